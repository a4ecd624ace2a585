package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type credentials struct {
	User string      `json:"user"`
	Key  page.Hidden `json:"apiKey" elicit:"title=API key,minLength=8"`
}

var (
	askCredentials = page.Secret[credentials]("credentials", "Your account at weather.example.com")
	askKey         = page.SecretInput("apiKey", "Your key of weather.example.com", page.Remember(time.Hour))
)

// forecast is a tool that needs credentials. It says whose they are, and how long the key is.
func forecast(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	a, err := askCredentials.Require(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, ok := a.Value()
	if !ok {
		return elicit.Text("No forecast: " + string(a.Action()) + "."), nil, nil
	}
	return elicit.Text("Sunny for " + c.User + " " + strings.Repeat("*", len(c.Key.Reveal())) + "."), nil, nil
}

func keyed(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	key, err := askKey.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text("Sunny " + strings.Repeat("*", len(key.Reveal())) + "."), nil, nil
}

func weather(shop *elicit.Server) {
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast"}, forecast, elicit.Asks(askCredentials))
	elicit.AddTool(shop, &mcp.Tool{Name: "Keyed"}, keyed, elicit.Asks(askKey))
}

func TestSecret(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	asked := s.call("", "Forecast", nil, nil)
	link := asked.link(t, "credentials")
	if !strings.HasPrefix(link, s.base+"/") || len(link) > 400 {
		t.Errorf("the link is %s", link)
	}
	v := visit(t, "")
	p := v.get(link)
	p.says(t, 200, "Your account at weather.example.com", "tool Forecast", "editor", `type="password"`, "API key")

	// Not yet done: the same link.
	again := s.call("", "Forecast", asked, map[string]string{"credentials": "accept"})
	if again.link(t, "credentials") != link {
		t.Errorf("asked again with another link")
	}

	p = v.press(p, "send", "ann", "short")
	p.says(t, 422, "API key", "at least 8 characters", `value="ann"`)
	p = v.press(p, "send", "ann", "long enough")
	p.says(t, 200, "Done")

	done := s.call("", "Forecast", again, map[string]string{"credentials": "accept"})
	if got := done.text(); got != "Sunny for ann ***********." {
		t.Errorf("got %s", got)
	}
	// Used up.
	v.get(link).says(t, 200, "Done")
	if next := s.call("", "Forecast", nil, nil); next.link(t, "credentials") == link {
		t.Error("the next call has the same link")
	}
}

func TestSecretDeclined(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	for where, decline := range map[string]func(r *round) *round{
		"on the page": func(r *round) *round {
			v := visit(t, "")
			v.press(v.get(r.link(t, "credentials")), "decline").says(t, 200, "Declined")
			return s.call("", "Forecast", r, map[string]string{"credentials": "accept"})
		},
		"at the client": func(r *round) *round {
			return s.call("", "Forecast", r, map[string]string{"credentials": "decline"})
		},
	} {
		t.Run(where, func(t *testing.T) {
			r := s.call("", "Forecast", nil, nil)
			link := r.link(t, "credentials")
			if got := decline(r).text(); got != "No forecast: decline." {
				t.Errorf("got %s", got)
			}
			visit(t, "").get(link).says(t, 200, "Declined")
		})
	}
	r := s.call("", "Forecast", nil, nil)
	if got := s.call("", "Forecast", r, map[string]string{"credentials": "cancel"}).text(); got != "No forecast: cancel." {
		t.Errorf("got %s", got)
	}
}

// The call that waits goes on as soon as the page is done.
func TestSecretWakes(t *testing.T) {
	s := newSite(t, setup{tools: weather, page: page.Options{Wait: time.Hour}})
	r := s.call("", "Forecast", nil, nil)
	got := make(chan string)
	go func() {
		r, err := s.try("", "Forecast", `{"url":{}}`, r, map[string]string{"credentials": "accept"})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.text()
	}()
	v := visit(t, "")
	v.press(v.get(r.link(t, "credentials")), "send", "ann", "long enough").says(t, 200, "Done")
	if text := <-got; text != "Sunny for ann ***********." {
		t.Errorf("got %s", text)
	}
}

func TestSecretRemembered(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	answer := func(user string) {
		t.Helper()
		r := s.call(user, "Keyed", nil, nil)
		name, _, _ := strings.Cut(user, "@")
		v := visit(t, name)
		v.press(v.get(r.link(t, "apiKey")), "send", "abcdefgh").says(t, 200, "Done")
		if got := s.call(user, "Keyed", r, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
			t.Errorf("got %s", got)
		}
	}
	answer("ann@editor")
	if got := s.call("ann@editor", "Keyed", nil, nil).text(); got != "Sunny ********." {
		t.Errorf("not remembered: %s", got)
	}
	answer("ann@chat") // another client
	answer("bob@editor")
}

// The page names the program that asks: as it calls itself, cut to a length that shows, and by the ID of its token.
func TestPageNamesTheClient(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	visit(t, "ann").get(s.call("ann@client-7", "Keyed", nil, nil).link(t, "apiKey")).says(t, 200, "“editor”", "the ID “client-7”", "signed in as <strong>ann@example.com")
}

// A question on a page is asked beside others in one round.
func TestSecretAmongOthers(t *testing.T) {
	city := elicit.Input("city", "Which city?")
	s := newSite(t, setup{tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Both"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			var k elicit.Answer[page.Hidden]
			var c elicit.Answer[string]
			if err := elicit.RequireAll(ctx, askKey.Into(&k), city.Into(&c)); err != nil {
				return nil, nil, err
			}
			key, _ := k.Value()
			where, ok := c.Value()
			return elicit.Text(fmt.Sprint(len(key.Reveal()), where, ok, c.Action())), nil, nil
		}, elicit.Asks(askKey, city))
	}})
	r, err := s.try("", "Both", `{"url":{},"form":{}}`, nil, nil)
	if err != nil || len(r.Result.InputRequests) != 2 {
		t.Fatalf("got %+v %v", r, err)
	}
	v := visit(t, "")
	v.press(v.get(r.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	r, err = s.try("", "Both", `{"url":{},"form":{}}`, r, map[string]string{"apiKey": "accept", "city": "decline"})
	if err != nil || r.text() != "8falsedecline" {
		t.Errorf("got %+v %v", r, err)
	}
}

// Prompts and resources ask on pages as tools do.
func TestSecretOfPrompt(t *testing.T) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), nil)
	pages := page.Enable(shop, page.Options{})
	t.Cleanup(func() { pages.Close() })
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "Weather"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		k, err := askKey.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Description: fmt.Sprint("with ", len(k.Reveal()))}, nil
	}, elicit.Asks(askKey))
	server, transport := mcp.NewInMemoryTransports()
	go shop.Run(t.Context(), server)
	client := mcp.NewClient(&mcp.Implementation{Name: "new", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			v := visit(t, "")
			p := v.get(r.Params.URL)
			p.says(t, 200, "prompt Weather")
			v.press(p, "send", "12345678").says(t, 200, "Done")
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
	cs, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	res, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "Weather"})
	if err != nil || res.Description != "with 8" {
		t.Errorf("got %+v %v", res, err)
	}
}
