package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/tasks"
)

// A question by URL: its call becomes a task, which waits for the page without running, and goes on when that is done.
func TestAQuestionByURL(t *testing.T) {
	type key struct {
		Key string `json:"key"`
	}
	for _, c := range []struct {
		name string
		mode []elicit.ToolOption
	}{{"of an Optional tool", nil}, {"of a task", []elicit.ToolOption{tasks.Required}}} {
		t.Run(c.name, func(t *testing.T) {
			var runs atomic.Int32
			secret := page.Secret[key]("key", "Enter the number")
			i := start(t, tasks.Options{}, nil)
			page.Enable(i.shop, page.Options{Base: i.url + "/pages"})
			addTool(i.shop, "UseKey", func(ctx context.Context) (string, error) {
				runs.Add(1)
				k, err := secret.Value(ctx)
				if err != nil {
					return "", err
				}
				m, err := machine.Value(ctx)
				return fmt.Sprintf("%d characters for %s", len(k.Key), m), err
			}, append(c.mode, elicit.Asks(secret))...)
			id := i.create("", "UseKey", `{}`)
			task := i.until("", id, "input_required")
			params := task["inputRequests"].(object)["key"].(object)["params"].(object)
			url, _ := params["url"].(string)
			if params["mode"] != "url" || url == "" {
				t.Fatalf("asked %v", task)
			}
			i.update("", id, `{"key":{"action":"accept"}}`)
			eventually(t, func() bool { return i.get("", id)["statusMessage"] == "waiting for the page" }, func() string { return fmt.Sprint(i.get("", id)) })
			if task := i.get("", id); task["status"] != "working" || i.engine.Runs() > 1 {
				t.Errorf("while the page is open: %v", task)
			}
			if err := tool.CompletePage(t.Context(), i.shop.MCP(), url, key{Key: "k-12345"}); err != nil {
				t.Fatal(err)
			}
			if task = i.until("", id, "input_required"); !slices.Equal(keys(task), []string{"machine"}) {
				t.Fatalf("asked %v", task)
			}
			i.update("", id, `{"machine":{"action":"accept","content":{"input":"m1"}}}`)
			if got := text(t, i.until("", id, "completed")); got != "7 characters for m1" {
				t.Error(got)
			}
		})
	}
}

func TestAQuestionByURLIsDeclined(t *testing.T) {
	pay := elicit.NewURL("pay", "Pay", func(context.Context) (string, error) { return "https://pay.example.com/1", nil },
		func(context.Context) (bool, error) { return false, nil })
	i := start(t, tasks.Options{}, nil)
	page.Enable(i.shop, page.Options{Base: i.url + "/pages"})
	addTool(i.shop, "Pay", func(ctx context.Context) (string, error) {
		_, err := pay.Value(ctx)
		return "paid", err
	}, elicit.Asks(pay))
	id := i.create("", "Pay", `{}`)
	i.until("", id, "input_required")
	i.update("", id, `{"pay":{"action":"decline"}}`)
	if task := i.until("", id, "completed"); task["result"].(object)["isError"] != true {
		t.Errorf("got %v", task)
	}
}

// The author's own page: nobody says when it is done, so the task looks from time to time.
func TestAPageOfTheAuthorsOwn(t *testing.T) {
	var done atomic.Bool
	pay := elicit.NewURL("pay", "Pay", func(context.Context) (string, error) { return "https://pay.example.com/1", nil },
		func(context.Context) (bool, error) { return done.Load(), nil })
	i := start(t, tasks.Options{}, nil)
	page.Enable(i.shop, page.Options{Base: i.url + "/pages"})
	addTool(i.shop, "Pay", func(ctx context.Context) (string, error) {
		_, err := pay.Value(ctx)
		return "paid", err
	}, elicit.Asks(pay))
	id := i.create("", "Pay", `{}`)
	i.until("", id, "input_required")
	i.update("", id, `{"pay":{"action":"accept"}}`)
	eventually(t, func() bool { return i.get("", id)["statusMessage"] == "waiting for the page" }, func() string { return fmt.Sprint(i.get("", id)) })
	done.Store(true)
	if got := text(t, i.until("", id, "completed")); got != "paid" {
		t.Error(got)
	}
}

// A task of nobody's that was made through a tunnel, where that is allowed, gets no link to a page of this machine's user,
// who could be led to enter a secret for somebody else's call.
func TestSecurity19NoLinkForAnonymousTasksFromElsewhere(t *testing.T) {
	secret := page.SecretInput("key", "Enter the key")
	i := start(t, tasks.Options{AllowAnonymous: true}, nil)
	page.Enable(i.shop, page.Options{Base: i.url + "/pages"})
	addTool(i.shop, "UseKey", func(ctx context.Context) (string, error) {
		_, err := secret.Value(ctx)
		return "", err
	}, tasks.Required, elicit.Asks(secret))
	r := i.request("", capabilities, "tools/call", "UseKey", `"name":"UseKey","arguments":{}`)
	r.Header.Set("X-Forwarded-For", "203.0.113.1")
	id, _ := i.do(r).Result["taskId"].(string)
	if task := i.until("", id, "completed", "failed", "input_required"); task["inputRequests"] != nil || !strings.Contains(fmt.Sprint(task), "from another machine") {
		t.Errorf("got %v", task)
	}
}
