package main

import (
	"fmt"

	"github.com/alecthomas/kong"
	"github.com/elicit-go/elicit/answer"
)

// A wireMode is the value of --wire: "" is off, "on" prints without secrets, "raw" with them.
type wireMode string

// Decode implements kong.MapperValue: --wire needs no value.
func (m *wireMode) Decode(ctx *kong.DecodeContext) error {
	*m = "on"
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch v := ctx.Scan.Pop().String(); v {
	case "raw":
		*m = "raw"
	case "on", "true":
	case "off", "false":
		*m = ""
	default:
		return fmt.Errorf("is on, raw or off, not %q", v)
	}
	return nil
}

// IsBool tells kong that the value is optional.
func (*wireMode) IsBool() bool { return true }

// tap is the wire tap for this mode; hide names headers to redact.
func (m wireMode) tap(con *console, hide []string) func(answer.WireMessage) {
	if m == "" {
		return nil
	}
	return answer.WireTo(con.log(), &answer.WireFormat{Raw: m == "raw", Hide: hide})
}
