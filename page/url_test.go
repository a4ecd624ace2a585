package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shopWith is a server with pages and one tool.
func shopWith(t *testing.T, h mcp.ToolHandlerFor[struct{}, any], asks ...elicit.AnyQuestion) *elicit.Server {
	t.Helper()
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), nil)
	pages := page.Enable(shop, page.Options{})
	t.Cleanup(func() { pages.Close() })
	elicit.AddTool(shop, &mcp.Tool{Name: "Tool"}, h, elicit.Asks(asks...))
	return shop
}

// Handlers that ask on a page are tested as others are, with clients of both generations.
func TestElicittest(t *testing.T) {
	shop := shopWith(t, forecast, askCredentials)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		tr := elicittest.Call(t, shop.MCP(), version, "Tool", nil, elicittest.Accept(askCredentials, credentials{"ann", page.NewHidden("long enough")}))
		if tr.Text() != "Sunny for ann ***********." || len(tr.Asked) != 1 || !strings.HasPrefix(tr.Asked[0].URL, "http://127.0.0.1:") {
			t.Errorf("%s: %s; asked %+v", version, tr.Text(), tr.Asked)
		}
		tr = elicittest.Call(t, shop.MCP(), version, "Tool", nil, elicittest.Decline("credentials"))
		if tr.Text() != "No forecast: decline." {
			t.Errorf("%s: %s", version, tr.Text())
		}
	}
	tr := elicittest.Call(t, shop.MCP(), "2025-06-18", "Tool", nil)
	if !tr.Result.IsError || !strings.Contains(tr.Text(), "elicitation.url") {
		t.Errorf("2025-06-18: %s", tr.Text())
	}

	_, _, err := forecast(elicittest.Context(t), nil, struct{}{})
	if !errors.Is(err, elicit.ErrAsking) {
		t.Errorf("got %v", err)
	}
	res, _, err := forecast(elicittest.Context(t, elicittest.Accept(askCredentials, credentials{Key: page.NewHidden("123")})), nil, struct{}{})
	if err != nil || elicittestText(res) != "Sunny for  ***." {
		t.Errorf("got %v %v", res, err)
	}
	res, _, err = forecast(elicittest.Context(t, elicittest.Cancel("credentials")), nil, struct{}{})
	if err != nil || elicittestText(res) != "No forecast: cancel." {
		t.Errorf("got %v %v", res, err)
	}
}

func elicittestText(r *mcp.CallToolResult) string { return (&elicittest.Transcript{Result: r}).Text() }

// A client that declared no URL mode gets −32021, naming it, unless there is nothing to ask.
func TestCapability(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	for _, declared := range []string{`{}`, `{"form":{}}`} {
		r, err := s.try("ann", "Keyed", declared, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != http.StatusBadRequest || r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != `{"requiredCapabilities":{"elicitation":{"url":{}}}}` {
			t.Errorf("%s: %d %+v", declared, r.Status, r.Error)
		}
	}
	r := s.call("ann", "Keyed", nil, nil)
	v := visit(t, "ann")
	v.press(v.get(r.link(t, "apiKey")), "send", "12345678")
	if r, err := s.try("ann", "Keyed", `{}`, nil, nil); err != nil || r.text() != "Sunny ********." {
		t.Errorf("what is remembered needs no asking: %+v %v", r, err)
	}
}

// A payment on a page of the author's own.
func TestNewURL(t *testing.T) {
	var paid atomic.Bool
	var charges atomic.Int32
	pay := elicit.NewURL("pay", "Pay for the order", func(ctx context.Context) (string, error) {
		return elicit.Step(ctx, "checkout", func(context.Context) (string, error) {
			charges.Add(1)
			return "https://pay.example.com/checkout?session=" + elicit.CallID(ctx), nil
		})
	}, func(context.Context) (bool, error) { return paid.Load(), nil })
	s := newSite(t, setup{page: page.Options{Wait: time.Hour}, tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if _, err := pay.Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text("Ordered."), nil, nil
		}, elicit.Asks(pay))
	}})
	r := s.call("", "Order", nil, nil)
	link := r.link(t, "pay")
	if strings.Contains(link, "pay.example.com") {
		t.Errorf("the link is not ours: %s", link)
	}
	v := visit(t, "")
	p := v.get(link)
	p.says(t, 200, "Pay for the order", "pay.example.com")
	if strings.Contains(p.body, "session=") {
		t.Error("the page shows more than the host")
	}
	to := v.press(p, "send")
	if at := to.leads(); to.status != http.StatusOK || !strings.HasPrefix(at, "https://pay.example.com/checkout?session=") {
		t.Errorf("%d to %s", to.status, at)
	}
	if csp := p.header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self';") {
		t.Errorf("the page may post elsewhere: %s", csp)
	}
	go func() { paid.Store(true) }()
	if got := s.call("", "Order", r, map[string]string{"pay": "accept"}).text(); got != "Ordered." {
		t.Errorf("got %s", got)
	}
	if charges.Load() != 1 {
		t.Errorf("%d checkouts", charges.Load())
	}
	if got := s.call("", "Order", nil, nil).text(); got != "Ordered." {
		t.Errorf("what is done is asked again: %s", got)
	}
}

// A call that waits for a page of the author's own goes on at once when the author says where it is done. To say so is not to
// have done it.
func TestRecheck(t *testing.T) {
	var paid atomic.Bool
	looked := make(chan bool, 100)
	where := make(chan string, 1)
	pay := elicit.NewURL("pay", "Pay for the order", func(ctx context.Context) (string, error) {
		where <- elicit.CallID(ctx)
		return "https://pay.example.com/checkout", nil
	}, func(context.Context) (bool, error) {
		ok := paid.Load()
		looked <- ok
		return ok, nil
	})
	s := newSite(t, setup{page: page.Options{Wait: time.Hour}, tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if _, err := pay.Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text("Ordered."), nil, nil
		}, elicit.Asks(pay))
	}})
	s.pages.RecheckNever() // by itself
	r := s.call("", "Order", nil, nil)
	r.link(t, "pay")
	call := <-where
	<-looked
	got := make(chan string, 1)
	go func() {
		r, err := s.try("", "Order", `{"url":{}}`, r, map[string]string{"pay": "accept"})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.text()
	}()
	<-looked // it waits
	for range 20 {
		s.pages.Recheck(call)
		s.pages.Recheck("another call")
		if <-looked {
			t.Fatal("it is done")
		}
	}
	paid.Store(true)
	s.pages.Recheck(call)
	if text := <-got; text != "Ordered." {
		t.Errorf("got %s", text)
	}
}

func TestNewURLWrong(t *testing.T) {
	where := func(context.Context) (string, error) { return "https://pay.example.com/", nil }
	done := func(context.Context) (bool, error) { return false, nil }
	for name, q := range map[string]*elicit.Question[bool]{
		"no way to know that it is done": elicit.NewURL("pay", "Pay", where, nil),
		"where to send people":           elicit.NewURL("pay", "Pay", nil, done),
		"no message":                     elicit.NewURL("pay", " ", where, done),
		"must not lead people to links":  elicit.NewURL("pay", "Pay at https://pay.acme.com", where, done),
	} {
		if err := q.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"http://pay.example.com/", "javascript:alert(1)", "https://user:secret@pay.example.com/", "//pay.example.com", "https:///x", "file:///etc/passwd"} {
		q := elicit.NewURL("pay", "Pay", func(context.Context) (string, error) { return bad, nil }, done)
		s := newSite(t, setup{tools: func(shop *elicit.Server) {
			elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				_, err := q.Value(ctx)
				return nil, nil, err
			}, elicit.Asks(q))
		}})
		r := s.call("", "Order", nil, nil)
		if !r.Result.IsError || len(r.Result.InputRequests) > 0 || strings.Contains(r.text(), "secret") {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
