package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Step runs fn and remembers its result for the rounds of the call that follow, so that a handler which starts from the
// top does not do its work again: fetch a price in Step, show it in a question, and it is the same price when the answer
// comes. The result is kept as JSON in the requestState, encrypted, and what Step returns is always decoded from it, in
// the first round too, so that no round sees more than the others.
//
// It is a memo and not a lock: fn runs at least once. It runs again when a client repeats the first round, or answers
// after [Options.Expiry]. Give what must not happen twice the [CallID].
//
// An error of fn is returned, and nothing is remembered.
func Step[T any](ctx context.Context, name string, fn func(context.Context) (T, error)) (T, error) {
	var v T
	if name == "" {
		return v, errors.New("elicit: a step has no name: give it one that is unique within its call")
	}
	c, err := from(ctx)
	if err != nil {
		return v, err
	}
	raw, ok := c.st.Steps[name]
	c.stepped = true
	c.mu.Unlock()
	if !ok {
		x, err := fn(ctx)
		if err != nil {
			return v, err
		}
		if raw, err = json.Marshal(x); err != nil {
			return v, fmt.Errorf("elicit: the result of step %q cannot be kept as JSON: %w", name, err)
		}
		c.mu.Lock()
		if c.st.Steps == nil {
			c.st.Steps = map[string][]byte{}
		}
		c.st.Steps[name] = raw
		c.mu.Unlock()
		if err := c.keepStep(ctx, name, raw); err != nil {
			return v, err
		}
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("elicit: the result of step %q cannot be read back from JSON: %w", name, err)
	}
	return v, nil
}
