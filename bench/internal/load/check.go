package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A checker checks the responses to one step. Each is compared byte for byte, but for its id and state, with responses
// that were decoded and found right; what is like none of them is decoded in its turn.
type checker struct {
	want  want
	right [][]byte
	key   []byte
}

// How many different right responses are remembered; servers encode maps in any order.
const maxRight = 32

// check checks a response body, and returns the state in it.
func (c *checker) check(body []byte, id int) (state []byte, err error) {
	c.key = fmt.Appendf(c.key[:0], `"id":%09d`, id)
	i := bytes.Index(body, c.key)
	if i < 0 {
		return c.decode(body, id)
	}
	// The key is the body without what differs from call to call; a server may write the id first or last.
	spans := [][2]int{{i + len(`"id":`), i + len(c.key)}}
	if j := bytes.Index(body, []byte(`"requestState":"`)); j >= 0 {
		j += len(`"requestState":"`)
		n := bytes.IndexAny(body[j:], `"\\`)
		if n < 0 || body[j+n] != '"' {
			return c.decode(body, id)
		}
		state = body[j : j+n]
		spans = append(spans, [2]int{j, j + n})
		if j < i {
			spans[0], spans[1] = spans[1], spans[0]
		}
	}
	c.key = c.key[:0]
	at := 0
	for _, s := range spans {
		c.key = append(append(c.key, body[at:s[0]]...), 0)
		at = s[1]
	}
	c.key = append(c.key, body[at:]...)
	for _, r := range c.right {
		if bytes.Equal(r, c.key) {
			return state, nil
		}
	}
	decoded, err := c.decode(body, id)
	if err == nil && string(decoded) != string(state) {
		err = fmt.Errorf("the state is not where it seemed to be: %s", body)
	}
	if err == nil && len(c.right) < maxRight {
		c.right = append(c.right, bytes.Clone(c.key))
	}
	return state, err
}

// decode checks a response with encoding/json.
func (c *checker) decode(body []byte, id int) (state []byte, err error) {
	var r struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Error   any    `json:"error"`
		Result  struct {
			ResultType    string `json:"resultType"`
			RequestState  string `json:"requestState"`
			IsError       bool   `json:"isError"`
			InputRequests map[string]struct {
				Method string `json:"method"`
				Params struct {
					Mode    string `json:"mode"`
					Message string `json:"message"`
					Schema  struct {
						Type       string         `json:"type"`
						Properties map[string]any `json:"properties"`
					} `json:"requestedSchema"`
				} `json:"params"`
			} `json:"inputRequests"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("%w in %s", err, body)
	}
	wrong := func(what string) ([]byte, error) { return nil, fmt.Errorf("%s: %s", what, body) }
	res := &r.Result
	switch {
	case r.JSONRPC != "2.0" || r.ID != id:
		return wrong(fmt.Sprintf("not the response to %d", id))
	case r.Error != nil || res.IsError:
		return wrong("an error")
	case c.want.asks == nil:
		if res.ResultType != "complete" || len(res.InputRequests) > 0 || len(res.Content) != 1 || res.Content[0].Type != "text" || res.Content[0].Text != c.want.text {
			return wrong(fmt.Sprintf("not the text %q", c.want.text))
		}
	case res.ResultType != "input_required" || len(res.InputRequests) != len(c.want.asks) || len(res.Content) > 0:
		return wrong("it does not ask")
	}
	for key, q := range c.want.asks {
		asked := res.InputRequests[key]
		var fields []string
		for name := range asked.Params.Schema.Properties {
			fields = append(fields, name)
		}
		slices.Sort(fields)
		if asked.Method != "elicitation/create" || asked.Params.Mode != "form" || asked.Params.Schema.Type != "object" ||
			asked.Params.Message != q.message || strings.Join(fields, " ") != q.fields {
			return wrong(fmt.Sprintf("not the form %q", key))
		}
	}
	return []byte(res.RequestState), nil
}
