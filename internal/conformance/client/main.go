// Command client is this library's client as the official conformance suite drives it: the URL of the suite's server is its
// last argument, and what to do it finds there. It lists and calls everything that it is offered, and accepts what it is asked.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"sync"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[len(os.Args)-1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "elicit-conformance-client", Version: "1.0.0"}, url,
		&answer.Options{Answerer: answer.AnswererFunc(accept)})
	if err != nil {
		return err
	}
	defer session.Close()
	return errors.Join(tools(ctx, session), resources(ctx, session), prompts(ctx, session))
}

// accept fills in what a form requires, by its defaults or by values made up.
func accept(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	f, err := r.Form()
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	for name, p := range f.Fields() {
		switch {
		case p.Default != nil:
			content[name] = p.Default
		case p.Options != nil && p.Type == "string":
			content[name] = p.Options[0].Value
		case p.Type == "string":
			content[name] = "conformance"
		case p.Type == "boolean":
			content[name] = true
		case p.Type == "integer" || p.Type == "number":
			content[name] = 1
		}
	}
	return &mcp.ElicitResult{Action: answer.ActionAccept, Content: content}, nil
}

// tools calls what the suite says, else every tool with arguments made up: all at once, as calls that run in parallel must
// not get into each other's way.
func tools(ctx context.Context, session *mcp.ClientSession) error {
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	var wanted struct{ ToolCalls []*mcp.CallToolParams }
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &wanted); err != nil {
			return err
		}
	}
	calls := wanted.ToolCalls
	if calls == nil {
		for _, t := range list.Tools {
			calls = append(calls, &mcp.CallToolParams{Name: t.Name, Arguments: arguments(t)})
		}
	}
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, p := range calls {
		all.Go(func() {
			_, err := answer.CallTool(ctx, session, p, nil)
			var rpc *jsonrpc.Error
			if errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound {
				return // Its tools are for listing alone.
			}
			errs[i] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func arguments(t *mcp.Tool) map[string]any {
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	args := map[string]any{}
	data, err := json.Marshal(t.InputSchema)
	if err != nil || json.Unmarshal(data, &schema) != nil {
		return args
	}
	for name, p := range schema.Properties {
		switch p.Type {
		case "string":
			args[name] = "conformance"
		case "integer", "number":
			args[name] = 2
		case "boolean":
			args[name] = true
		}
	}
	return args
}

func resources(ctx context.Context, session *mcp.ClientSession) error {
	if caps := session.InitializeResult().Capabilities; caps == nil || caps.Resources == nil {
		return nil
	}
	list, err := session.ListResources(ctx, nil)
	if err != nil {
		return err
	}
	for _, r := range list.Resources {
		if _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI}); err != nil {
			return err
		}
	}
	return nil
}

func prompts(ctx context.Context, session *mcp.ClientSession) error {
	if caps := session.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
		return nil
	}
	list, err := session.ListPrompts(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range list.Prompts {
		if _, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name}); err != nil {
			return err
		}
	}
	return nil
}
