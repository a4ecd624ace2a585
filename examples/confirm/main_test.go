package main

import (
	"slices"
	"testing"

	"github.com/elicit-go/elicit/elicittest"
)

func TestEachProjectIsItsOwnQuestion(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		p := &projects{all: map[string]bool{"apollo": true, "gemini": true}}
		tr := elicittest.Call(t, newServer(p).MCP(), version, "DeleteProjects", Names{[]string{"apollo", "gemini"}},
			elicittest.Accept(remove.WithKey("delete:apollo"), true), elicittest.Decline("delete:gemini"))
		if tr.Text() != "Deleted apollo.\nKept gemini." || p.all["apollo"] || !p.all["gemini"] {
			t.Errorf("%s: %q, left %v", version, tr.Text(), p.all)
		}
		var asked []string
		for _, q := range tr.Asked {
			asked = append(asked, q.Message)
		}
		if want := []string{"Delete project apollo and all that is in it? This cannot be undone.", "Delete project gemini and all that is in it? This cannot be undone."}; !slices.Equal(asked, want) {
			t.Errorf("%s: asked %q", version, asked)
		}
	}
}
