package docgen

import (
	"go/ast"
	"go/doc/comment"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fieldText is a field's doc comment, else the comment at the end of its line, as one line for people: without markup, code
// blocks and what is said about deprecation. As Go's comments begin with the name of what they describe, "Weight is the weight in
// kilograms." becomes "The weight in kilograms."
func fieldText(name string, f *ast.Field) string {
	text := source(f.Doc)
	if strings.TrimSpace(text) == "" {
		text = source(f.Comment)
	}
	p := comment.Parser{LookupSym: func(string, string) bool { return true }, LookupPackage: func(string) (string, bool) { return "", true }}
	d := p.Parse(text)
	var kept []comment.Block
	for _, b := range d.Content {
		if _, code := b.(*comment.Code); code {
			continue
		}
		if para, ok := b.(*comment.Paragraph); ok && len(para.Text) > 0 {
			if plain, ok := para.Text[0].(comment.Plain); ok && strings.HasPrefix(string(plain), "Deprecated:") {
				continue
			}
		}
		kept = append(kept, b)
	}
	d.Content = kept
	printer := comment.Printer{TextWidth: -1}
	return plain(name, strings.Join(strings.Fields(string(printer.Text(d))), " "))
}

// source is the text of a comment; of one between /* and */ without indentation, which would make it code.
func source(g *ast.CommentGroup) string {
	text := g.Text()
	if g == nil || !strings.HasPrefix(g.List[0].Text, "/*") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// plain drops the name that a comment begins with.
func plain(name, text string) string {
	for _, verb := range []string{" is ", " are "} {
		rest, ok := strings.CutPrefix(text, name+verb)
		if ok && rest != "" {
			r, n := utf8.DecodeRuneInString(rest)
			return string(unicode.ToUpper(r)) + rest[n:]
		}
	}
	return text
}
