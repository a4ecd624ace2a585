// Package tool holds what a tool, prompt or resource was declared with, and the seams that other packages of this module
// reach the root package through without it exporting them.
package tool

import (
	"context"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config is what the options of a tool say.
type Config struct {
	Asks []Question
	Task Task
}

// An Option changes a Config.
type Option interface{ Apply(*Config) }

// OptionFunc is an Option that is a function.
type OptionFunc func(*Config)

// Apply implements Option.
func (f OptionFunc) Apply(c *Config) { f(c) }

// Question is a declared question: its key, the digest of its words, and what is wrong with it.
type Question struct {
	Key    string
	Digest state.Digest
	URL    bool // it sends the user to a page
	Err    error
	Page   URL // what that does; nil unless URL
}

// Hooks that the root package fills in for elicittest.
var (
	// TestContext is a context in which a handler can ask without a server.
	TestContext func(ctx context.Context, answers mcp.InputResponseMap) context.Context
	// TestAsked is what was asked in such a context, in the order of asking.
	TestAsked func(ctx context.Context) ([]string, map[string]mcp.InputRequest)
	// Encode is v as a client would answer question with it.
	Encode func(question, v any) (mcp.InputResponse, error)
)
