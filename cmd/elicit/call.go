package main

import (
	"context"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type callCmd struct {
	URL  string `arg:"" optional:"" help:"Where the server is: http://localhost:5280/. Left out when a command follows --."`
	Tool string `arg:"" optional:"" help:"The tool to call: ShipOrder"`

	Arg  []string `sep:"none" placeholder:"NAME=VALUE" help:"An argument of the tool, converted to the type the tool's schema names."`
	Args string   `aliases:"args-json" placeholder:"JSON|FILE" complete:"files" help:"All arguments as a JSON object, or the file that has it; - is stdin."`
	answerFlags
	JSON bool `help:"Print the whole result as JSON."`
	serverFlags
}

func (*callCmd) Help() string {
	return `Examples:

  elicit call http://localhost:5280/ ShipOrder
  elicit call http://localhost:5280/ ShipOrder --answer ship.trackingNumber=1Z999 --wire
  elicit call http://localhost:5280/ ShipOrder --browser
  elicit call https://mcp.example.com/ Deploy --arg env=prod --decline confirm --token-env TOKEN
  elicit call ShipOrder -- shop --stdio

What follows -- is the command that runs a server on its standard input and output.

In --answer ship.trackingNumber=1Z999, ship is the key of the question and trackingNumber a field of its form. At a terminal, what no flag answers is asked. Elsewhere the command ends with exit code 4 and names key and field.`
}

func (c *callCmd) Run(ctx context.Context, con *console) error {
	tool, err := con.tool(&c.URL, c.Tool)
	if err != nil {
		return err
	}
	if err := con.oneStdin(c.Args, c.Answers, c.TokenFile); err != nil {
		return err
	}
	call := &calling{con: con, url: c.URL, flags: &c.connectFlags, json: c.JSON, timeout: c.Timeout, what: answer.PlainLine(tool)}
	return call.run(ctx, &c.answerFlags, func(ctx context.Context, session *mcp.ClientSession, a answer.Answerer) (*mcp.CallToolResult, error) {
		args, err := arguments(ctx, con, session, tool, c.Args, c.Arg)
		if err != nil {
			return nil, err
		}
		return answer.CallTool(ctx, session, &mcp.CallToolParams{Name: tool, Arguments: args}, a)
	})
}
