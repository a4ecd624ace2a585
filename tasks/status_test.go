package tasks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
)

func TestStatus(t *testing.T) {
	proceed := make(chan struct{})
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Count", func(ctx context.Context) (string, error) {
			for n := range 1000 {
				tasks.Status(ctx, fmt.Sprintf("%d of 1000", n+1))
			}
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			return "done", nil
		}, tasks.Required)
		addTool(s, "OnCall", func(ctx context.Context) (string, error) { tasks.Status(ctx, "nobody sees it"); return "done", nil }, tasks.Synchronous)
	})
	id := i.create("ann", "Count", `{}`)
	eventually(t, func() bool { return i.get("ann", id)["statusMessage"] == "1000 of 1000" }, func() string { return fmt.Sprint(i.get("ann", id)) })
	close(proceed)
	if task := i.until("ann", id, "completed"); task["statusMessage"] != nil {
		t.Errorf("a finished task still says %v", task["statusMessage"])
	}
	if a := i.call("ann", "OnCall", `{}`); !strings.Contains(a.body, "done") {
		t.Errorf("got %s", a.body)
	}
}

// A status is a line for the client, however much the handler says: it goes with each answer and each notification.
func TestStatusIsCutAndCleaned(t *testing.T) {
	for said, want := range map[string]string{
		strings.Repeat("é", 1000): strings.Repeat("é", 1000),
		strings.Repeat("é", 1001): strings.Repeat("é", 1000) + "…",
		strings.Repeat("漢", 5000): strings.Repeat("漢", 1000) + "…",
		"3 of\u202e 10\x1b[2J":    "3 of 10[2J",
		"two\n\tlines":            "two\n\tlines",
	} {
		i := start(t, tasks.Options{}, func(s *elicit.Server) {
			addTool(s, "Says", func(ctx context.Context) (string, error) {
				tasks.Status(ctx, said)
				<-ctx.Done()
				return "", ctx.Err()
			}, tasks.Required)
		})
		id := i.create("ann", "Says", `{}`)
		var got any
		eventually(t, func() bool { got = i.get("ann", id)["statusMessage"]; return got != nil }, func() string { return "no status" })
		if got != want {
			t.Errorf("%.20q (%d bytes) is shown as %.20q (%d bytes)", said, len(said), got, len(fmt.Sprint(got)))
		}
		i.method("ann", "cancel", id, "")
	}
}
