package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type previewCmd struct {
	File       string `arg:"" complete:"files" help:"A requestedSchema, or a result with resultType input_required, in JSON; - is stdin."`
	Browser    bool   `aliases:"web" help:"Show it on a page in the browser."`
	Terminal   bool   `help:"Show it at the terminal; the default."`
	Accessible bool   `help:"Show it line by line, as for screen readers."`
}

func (*previewCmd) Help() string {
	return `What would be sent goes to stdout. What a form cannot do is said before: keywords of the schema that clients ignore.

Examples:

  elicit preview schema.json
  elicit preview schema.json --browser
  curl -s … | elicit preview -`
}

func (c *previewCmd) Run(ctx context.Context, con *console) error {
	data, err := con.readInput(c.File)
	if err != nil {
		return usage("%w", err)
	}
	requests, err := questionsOf(data)
	if err != nil {
		return usage("%s: %w", c.File, err)
	}
	person, err := con.askWith(c.Browser, c.Terminal, c.Accessible)
	if err != nil {
		return err
	}
	if person == nil {
		return usage("there is no terminal to show it at; use --browser")
	}
	for _, r := range requests {
		if r.Params.Mode != "url" {
			_, ignored, err := form.Parse(r.Schema)
			if err != nil {
				return usage("%s: question %q: %w", c.File, r.Key, err)
			}
			for _, i := range ignored {
				con.say("elicit: " + i.String())
			}
		}
		res, err := person.Ask(ctx, r, nil, "This is a preview. Nothing is sent.")
		if err != nil {
			return err
		}
		shown, err := json.MarshalIndent(map[string]any{r.Key: res}, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(con.out, escapeHidden(shown))
	}
	return nil
}

// questionsOf are the questions of a result or a whole response that asks, or the one of a bare schema.
func questionsOf(data []byte) ([]*answer.Request, error) {
	var message struct {
		Result        json.RawMessage `json:"result"`
		ResultType    string          `json:"resultType"`
		InputRequests json.RawMessage `json:"inputRequests"`
	}
	if err := json.Unmarshal(data, &message); err != nil {
		return nil, fmt.Errorf("not JSON, or not an object: %w", err)
	}
	if message.Result != nil {
		return questionsOf(message.Result)
	}
	if message.InputRequests != nil {
		requests, err := answer.ReadInputRequests(message.InputRequests)
		if err == nil && len(requests) == 0 {
			err = errors.New("it asks nothing")
		}
		return requests, err
	}
	return []*answer.Request{{Key: "form", Server: "a preview", Params: &mcp.ElicitParams{Mode: "form", Message: "Your message stands here."}, Schema: data, Exact: true, Round: 1}}, nil
}
