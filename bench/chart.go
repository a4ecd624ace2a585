package main

import (
	"bytes"
	"fmt"
	"html"

	"github.com/elicit-go/elicit/bench/internal/peer"
)

// chart draws the CPU per call of the single question, as an SVG; nil if it was not measured.
func (r results) chart() []byte {
	const (
		left, right, row = 250, 150, 34
		width            = 800
	)
	type bar struct {
		title string
		cpu   float64
		own   bool
	}
	var bars []bar
	most := 0.0
	for _, p := range peer.All {
		if s := r.samples(find("question"), p.Name); len(s) > 0 {
			m := median(values(s, cpu.of))
			bars = append(bars, bar{p.Title, m, p.Name == peer.Elicit})
			most = max(most, m)
		}
	}
	if len(bars) == 0 {
		return nil
	}
	var b bytes.Buffer
	height := 60 + row*len(bars)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="20" y="30" font-size="16" font-weight="bold">CPU µs of the server per call, single question, 32 connections (median of %d)</text>`+"\n", len(r.samples(find("question"), peer.Elicit)))
	for i, x := range bars {
		y, w := 50+row*i, x.cpu/most*(width-left-right)
		colour := "#9aa5b1"
		if x.own {
			colour = "#1769aa"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-10, y+17, html.EscapeString(x.title))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, y, max(w, 1), row-10, colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", left+max(w, 1)+8, y+17, number(x.cpu, 1))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
