package oidc

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"

	"github.com/elicit-go/elicit/form/html"
)

// A notice is a page that says what has become of a login.
type notice struct {
	Title, Text    string
	Link, LinkText string
	Issuer         string // where to sign out there too
}

var notices = template.Must(template.New("notice").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{if .Link}}<p><a href="{{.Link}}">{{.LinkText}}</a></p>
{{end}}{{if .Issuer}}<p><a href="{{.Issuer}}">Sign out there too</a></p>
{{end}}</main>
</body>
</html>
`))

// contentSecurity allows the one style sheet.
var contentSecurity = func() string {
	sum := sha256.Sum256([]byte(html.Style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}()

func (l *Login) show(w http.ResponseWriter, status int, n notice) {
	var b bytes.Buffer
	if err := notices.Execute(&b, struct {
		notice
		Style template.CSS
	}{n, template.CSS(html.Style)}); err != nil {
		http.Error(w, n.Title, status)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentSecurity)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
