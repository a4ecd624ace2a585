package main

import (
	"context"
	"errors"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerFlags are the flags that answer questions.
type answerFlags struct {
	Answer  []string `sep:"none" placeholder:"KEY.FIELD=VALUE" help:"Answer a field. Given twice, the field is a list. With an empty key (.FIELD=VALUE) it answers what an older server asks without a key."`
	Accept  []string `sep:"none" placeholder:"KEY" help:"Accept a question without values but those of --answer."`
	Decline []string `sep:"none" placeholder:"KEY" help:"Say no to a question."`
	Cancel  []string `sep:"none" placeholder:"KEY" help:"Cancel a question, choosing nothing."`
	Answers string   `placeholder:"FILE" help:"Answers in JSON: {\"KEY\": {\"FIELD\": VALUE}, \"KEY\": \"decline\"}; - is stdin."`
}

// answerer answers by the flags, and asks at the terminal what they leave open.
func (f *answerFlags) answerer(con *console) (answer.Answerer, error) {
	flags := &answer.Flags{Answers: f.Answer, Accept: f.Accept, Decline: f.Decline, Cancel: f.Cancel}
	if f.Answers != "" {
		data, err := con.readInput(f.Answers)
		if err != nil {
			return nil, usage("--answers: %w", err)
		}
		if flags.Script, err = answer.ParseScript(data); err != nil {
			return nil, usage("--answers: %w", err)
		}
	}
	if err := flags.Check(); err != nil {
		return nil, usage("%w", err)
	}
	if !con.interactive {
		return flags, nil
	}
	person := newPrompter(con)
	return answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		res, err := flags.Answer(ctx, r)
		var missing *answer.MissingError
		var repeated *answer.RepeatedError
		var value *answer.ValueError
		switch {
		case errors.As(err, &missing):
			return person.ask(ctx, r, missing.Given)
		case errors.As(err, &repeated):
			return person.ask(ctx, r, nil)
		case errors.As(err, &value):
			con.say("elicit: " + value.Error())
			return person.ask(ctx, r, nil)
		}
		return res, err
	}), nil
}
