package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

var errGone = errors.New("no reply")

// request sends a request to any instance. The error is errGone where there was no reply, or none that is final.
func (s *fleet) request(ctx context.Context, method, name, params string) (map[string]any, error) {
	p := s.instances[rand.IntN(len(s.instances))]
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, params)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+p.addr, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, errGone
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, errGone
	}
	var x struct {
		Result map[string]any
		Error  *struct {
			Code    int
			Message string
		}
	}
	switch err := json.Unmarshal(b, &x); {
	case err != nil:
		return nil, fmt.Errorf("%d %s: %w", res.StatusCode, b, err)
	case x.Error != nil && x.Error.Code == -32603: // the store could not be reached
		return nil, errGone
	case x.Error != nil:
		return nil, fmt.Errorf("%s: %d %s", method, x.Error.Code, x.Error.Message)
	}
	return x.Result, nil
}

// create makes a task. It returns "" where there was no reply: nobody knows its id then.
func (s *fleet) create(ctx context.Context, tool string, n int, want string) (id string, a *asked) {
	x, err := s.request(ctx, "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":{"n":%d}`, tool, n))
	switch {
	case errors.Is(err, errGone):
		if ctx.Err() == nil {
			s.unknown.Add(1)
			time.Sleep(20 * time.Millisecond)
		}
		return "", nil
	case err != nil:
		s.t.Error(err)
		return "", nil
	}
	id, _ = x["taskId"].(string)
	if id == "" {
		s.t.Errorf("%s became no task: %v", tool, x)
	}
	a = &asked{answered: map[string]bool{}, want: want}
	s.mu.Lock()
	s.asked[id] = a
	s.mu.Unlock()
	return id, a
}

// ask drives a task that asks to its end.
func (s *fleet) ask(ctx context.Context) bool {
	n, sz := rand.IntN(1_000_000), []string{"s", "m", "l"}[rand.IntN(3)]
	id, a := s.create(ctx, "Ask", n, fmt.Sprintf("%d: %s for n%d, by run ", n, sz, n))
	return id != "" && s.drive(ctx, id, a, func(key, message string) string {
		if key, _, _ := strings.Cut(key, "#"); key == "size" {
			return fmt.Sprintf(`{"choice":%q}`, sz)
		}
		if want := fmt.Sprintf("Which name, for a %s?", sz); message != want {
			s.t.Errorf("%s: asked %q, want %q", id, message, want)
		}
		return fmt.Sprintf(`{"input":"n%d"}`, n)
	})
}

// work drives a task that takes seconds to its end.
func (s *fleet) work(ctx context.Context, seconds int) bool {
	id, a := s.create(ctx, "Work", seconds, fmt.Sprintf("%d: done by run ", seconds))
	return id != "" && s.drive(ctx, id, a, nil)
}

// drive polls a task and answers it, until it has finished. It returns false when ctx ends first.
func (s *fleet) drive(ctx context.Context, id string, a *asked, answer func(key, message string) string) bool {
	for ctx.Err() == nil && !s.t.Failed() {
		x, err := s.request(ctx, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
		if err != nil && !errors.Is(err, errGone) {
			s.t.Errorf("a task is lost: %v", err)
			return false
		}
		if err == nil && s.seen(id, a, x) {
			return true
		}
		requests, _ := x["inputRequests"].(map[string]any)
		for key, r := range requests {
			a.mu.Lock()
			lost := a.answered[key]
			a.mu.Unlock()
			if lost {
				s.t.Errorf("%s: %s was answered and acknowledged, and is asked again", id, key)
				return false
			}
			params, _ := r.(map[string]any)["params"].(map[string]any)
			message, _ := params["message"].(string)
			_, err := s.request(ctx, "tasks/update", id, fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"accept","content":%s}}`, id, key, answer(key, message)))
			if err != nil && !errors.Is(err, errGone) {
				s.t.Errorf("%s: %v", id, err)
				return false
			}
			if err == nil {
				a.mu.Lock()
				a.answered[key] = true
				a.mu.Unlock()
				s.answers.Add(1)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(30*time.Millisecond + rand.N(60*time.Millisecond)):
		}
	}
	return false
}

// seen looks at what tasks/get says, and reports whether the task has finished: as it should, and always alike.
func (s *fleet) seen(id string, a *asked, x map[string]any) bool {
	switch x["status"] {
	case "working", "input_required":
		if a.result != "" {
			s.t.Errorf("%s had finished (%s) and is %v", id, a.result, x["status"])
		}
		return false
	case "completed":
	default:
		s.t.Errorf("%s: %v", id, x)
		return true
	}
	b, _ := json.Marshal(x["result"])
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(b, &r); err != nil || len(r.Content) != 1 || !strings.HasPrefix(r.Content[0].Text, a.want) {
		s.t.Errorf("%s: %s, want %q", id, b, a.want)
		return true
	}
	if a.result != "" && a.result != r.Content[0].Text {
		s.t.Errorf("%s finished twice: %q, then %q", id, a.result, r.Content[0].Text)
	}
	a.result = r.Content[0].Text
	return true
}

// settle looks at all tasks once more, when nobody drives them: each is there, and those that had finished are as they were.
func (s *fleet) settle() {
	for id, a := range s.asked {
		for {
			x, err := s.request(s.t.Context(), "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
			if err == nil {
				s.seen(id, a, x)
				break
			}
			if !errors.Is(err, errGone) {
				s.t.Errorf("a task is lost: %v", err)
				break
			}
		}
	}
}
