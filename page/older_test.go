package page_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client of 2025-11-25 is asked over its session, waits, and is told when the page is done.
func TestOlderClient(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	asked, completed := make(chan *mcp.ElicitParams, 1), make(chan string, 1)
	action := "accept"
	client := mcp.NewClient(&mcp.Implementation{Name: "old", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params
			return &mcp.ElicitResult{Action: action}, nil
		},
		ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
			completed <- r.Params.ElicitationID
		}})
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.mcp}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	type ended struct {
		res *mcp.CallToolResult
		err error
	}
	call := func() chan ended {
		done := make(chan ended, 1)
		go func() {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Forecast"})
			done <- ended{res, err}
		}()
		return done
	}

	done := call()
	p := <-asked
	if p.Mode != "url" || p.ElicitationID == "" || p.Message != "Your account at weather.example.com" || p.Meta[wire.KeyMeta] != "credentials" || strings.Contains(p.URL, p.ElicitationID) {
		t.Errorf("asked %+v", p)
	}
	v := visit(t, "")
	v.press(v.get(p.URL), "send", "ann", "12345678").says(t, 200, "Done")
	if e := <-done; e.err != nil || elicittestText(e.res) != "Sunny for ann ********." {
		t.Errorf("got %+v", e)
	}
	if id := <-completed; id != p.ElicitationID {
		t.Errorf("told that %q is done, want %q", id, p.ElicitationID)
	}

	// Declined on the page: that is the end of it, too.
	done = call()
	p = <-asked
	v.press(v.get(p.URL), "decline").says(t, 200, "Declined")
	if e := <-done; e.err != nil || elicittestText(e.res) != "No forecast: decline." {
		t.Errorf("got %+v", e)
	}
	if id := <-completed; id != p.ElicitationID {
		t.Errorf("told that %q is done, want %q", id, p.ElicitationID)
	}

	// Declined at the client: the link is dead.
	action = "decline"
	done = call()
	p = <-asked
	if e := <-done; e.err != nil || elicittestText(e.res) != "No forecast: decline." {
		t.Errorf("got %+v", e)
	}
	v.get(p.URL).says(t, 200, "Declined")
}

// A server on stdio has pages on a listener of its own.
func TestOwnListener(t *testing.T) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), nil)
	pages := page.Enable(shop, page.Options{})
	weather(shop)
	server, transport := mcp.NewInMemoryTransports()
	go shop.Run(t.Context(), server)
	opened := make(chan string, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "new", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			opened <- r.Params.URL
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
	cs, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	var visited sync.WaitGroup
	visited.Go(func() {
		v := visit(t, "")
		v.press(v.get(<-opened), "send", "ann", "12345678").says(t, 200, "Done")
	})
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Forecast"})
	if err != nil || elicittestText(res) != "Sunny for ann ********." {
		t.Errorf("got %v %v", res, err)
	}
	visited.Wait()
	base, err := pages.Base()
	if err != nil || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Errorf("the pages are at %q (%v)", base, err)
	}
	if err := pages.Close(); err != nil {
		t.Error(err)
	}
}
