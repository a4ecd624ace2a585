package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish"`
}

func (*completionCmd) Help() string {
	return `Completes commands, flags, their values, and after -- the command that runs a server.

Examples:

  source <(elicit completion bash)                       in ~/.bashrc
  source <(elicit completion zsh)                        in ~/.zshrc, after compinit
  elicit completion fish | source                        in ~/.config/fish/config.fish`
}

//go:embed completion/elicit.bash
var completionBash string

//go:embed completion/elicit.zsh
var completionZsh string

//go:embed completion/elicit.fish
var completionFish string

func (c *completionCmd) Run(con *console) error {
	_, err := io.WriteString(con.out, map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[c.Shell])
	return err
}

// completing is the word by which the shells' scripts ask what may stand in the place of the last word that follows it.
const completing = "__complete"

// What may stand in the place of a word. The first line of an answer to the scripts says which.
const (
	completeWords   = "words"   // the lines that follow: a word, a tab, and what it is about
	completeFiles   = "files"   // the name of a file
	completeCommand = "command" // a part of a command line
)

// complete answers a shell's script. It knows the commands and flags from the parser's own model; what is a value is said by
// the tag complete: "files", "env" for the name of an environment variable, or the values themselves with commas between them.
func complete(out io.Writer, app *kong.Application, words []string) {
	if len(words) == 0 {
		return
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	node, place := app.Node, 0
	var value *kong.Value // whose value comes next
	for _, word := range before {
		name, _, given := strings.Cut(word, "=")
		switch {
		case value != nil:
			value = nil
		case word == "--":
			fmt.Fprintln(out, completeCommand)
			return
		case strings.HasPrefix(word, "-"):
			if f := flagOf(node, name); f != nil && !given && !f.IsBool() {
				value = f.Value
			}
		case place == 0 && childOf(node, word) != nil:
			node = childOf(node, word)
		default:
			place++
		}
	}

	name, _, given := strings.Cut(last, "=")
	lead := ""
	switch {
	case value != nil:
	case strings.HasPrefix(last, "-") && given:
		f := flagOf(node, name)
		if f == nil {
			return
		}
		value, lead = f.Value, name+"="
	case strings.HasPrefix(last, "-"):
		fmt.Fprintln(out, completeWords)
		for _, f := range flagsOf(node) {
			offer(out, last, "--"+f.Name, f.Help)
		}
		return
	case len(node.Children) > 0:
		fmt.Fprintln(out, completeWords)
		for _, c := range node.Children {
			offer(out, last, c.Name, c.Help)
		}
		return
	case place < len(node.Positional):
		value = node.Positional[place]
	default:
		return
	}

	switch kind := value.Tag.Get("complete"); {
	case kind == completeFiles:
		fmt.Fprintln(out, completeFiles)
	case kind == "env":
		fmt.Fprintln(out, completeWords)
		for _, v := range slices.Sorted(slices.Values(os.Environ())) {
			if v, _, _ = strings.Cut(v, "="); v != "" {
				offer(out, last, lead+v, "")
			}
		}
	case kind == "commands":
		fmt.Fprintln(out, completeWords)
		for _, c := range app.Children {
			offer(out, last, c.Name, c.Help)
		}
	case kind != "" || value.Enum != "":
		fmt.Fprintln(out, completeWords)
		for v := range strings.SplitSeq(kind+value.Enum, ",") {
			offer(out, last, lead+v, "")
		}
	}
}

// offer prints word where it begins with what is there, with the first sentence of what it is about.
func offer(out io.Writer, there, word, about string) {
	if !strings.HasPrefix(word, there) {
		return
	}
	about, _, _ = strings.Cut(about, ". ")
	if about = strings.TrimSuffix(strings.Join(strings.Fields(about), " "), "."); about != "" {
		word += "\t" + about
	}
	fmt.Fprintln(out, word)
}

func childOf(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

func flagsOf(node *kong.Node) []*kong.Flag { return slices.Concat(node.AllFlags(true)...) }

// flagOf is the flag that a word such as --wire names.
func flagOf(node *kong.Node, word string) *kong.Flag {
	flags := flagsOf(node)
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool {
		return "--"+f.Name == word || slices.Contains(f.Aliases, strings.TrimPrefix(word, "--"))
	})
	if i < 0 {
		return nil
	}
	return flags[i]
}
