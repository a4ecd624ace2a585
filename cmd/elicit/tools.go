package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type toolsCmd struct {
	URL  string `arg:"" optional:"" help:"Where the server is: http://localhost:5280/. Left out when a command follows --."`
	JSON bool   `help:"Print the tools as JSON, with their schemas."`
	serverFlags
}

func (*toolsCmd) Help() string {
	return `Examples:

  elicit tools http://localhost:5280/
  elicit tools -- shop --stdio`
}

func (c *toolsCmd) Run(ctx context.Context, con *console) error {
	patience := con.patience(ctx, c.Timeout, c.URL)
	defer patience.stop()
	ctx = patience.ctx
	session, err := c.connect(ctx, con, c.URL, &answer.Options{})
	if err != nil {
		return patience.explain(err)
	}
	defer session.Close()
	const maxPages = 100
	tools := []*mcp.Tool{}
	for page := (&mcp.ListToolsParams{}); len(tools) < maxPages*maxPages; {
		res, err := session.ListTools(ctx, page)
		if err != nil {
			return patience.explain(fmt.Errorf("listing the tools: %w", err))
		}
		tools = append(tools, res.Tools...)
		if res.NextCursor == "" || res.NextCursor == page.Cursor {
			break
		}
		page = &mcp.ListToolsParams{Cursor: res.NextCursor}
	}
	patience.stop()
	if c.JSON {
		data, err := json.MarshalIndent(tools, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(con.out, escapeHidden(data))
		return nil
	}
	for _, t := range tools {
		fmt.Fprintln(con.out, con.paint(bold, answer.PlainLine(t.Name)))
		for line := range strings.SplitSeq(strings.TrimSpace(answer.Plain(t.Description)), "\n") {
			if line != "" {
				fmt.Fprintln(con.out, "    "+line)
			}
		}
		if args := argumentNames(t); args != "" {
			fmt.Fprintln(con.out, "    arguments: "+args)
		}
	}
	return nil
}

// argumentNames are a tool's arguments, the required ones marked.
func argumentNames(t *mcp.Tool) string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	data, err := json.Marshal(t.InputSchema)
	if err != nil || json.Unmarshal(data, &schema) != nil {
		return ""
	}
	var names []string
	for name := range schema.Properties {
		shown := answer.PlainLine(name)
		if slices.Contains(schema.Required, name) {
			shown += "*"
		}
		names = append(names, shown)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
