package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/cmd/elicit/check"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The example has a clean sheet.
func TestCheckExample(t *testing.T) {
	s := httptest.NewServer(newShop().Handler(nil))
	defer s.Close()
	for _, flags := range [][]string{{"ShipOrder"}, {"ShipOrder", "--safe"}, {"--safe", "ShipOrder"}, {}} {
		o := try(t, append([]string{"check", s.URL + "/"}, flags...)...)
		if o.code != exitOK || !strings.Contains(o.out, " passed, 0 failed, 0 of them a MUST") {
			t.Errorf("%q: exit %d\n%s%s", flags, o.code, o.out, o.err)
		}
	}
}

// bare is a server of the bare SDK, without anything of ours, that asks once by ShipOrder and twice by Twice.
// With sessions, clients of older protocols get one each, else every request stands alone.
func bare(t *testing.T, sessions bool) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	question := func(field string) *mcp.ElicitParams {
		return &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"` + field + `":{"type":"string"}},"required":["` + field + `"]}`)}
	}
	ask := func(key, field string) *mcp.CallToolResult {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: question(field)}}
	}
	server.AddTool(&mcp.Tool{Name: "ShipOrder", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, ok := req.Params.InputResponses["ship"].(*mcp.ElicitResult)
		if !ok {
			return ask("ship", "trackingNumber"), nil
		}
		if res.Action != "accept" {
			return text("Shipping cancelled."), nil
		}
		return text(fmt.Sprintf("Shipped as %v.", res.Content["trackingNumber"])), nil
	})
	server.AddTool(&mcp.Tool{Name: "Twice", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Params.RequestState == "second" || req.Params.InputResponses["two"] != nil {
			return text("done"), nil
		}
		if req.Params.InputResponses["one"] != nil {
			res := ask("two", "b")
			res.RequestState = "second"
			return res, nil
		}
		return ask("one", "a"), nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	legacy := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sessions && r.Header.Get("Mcp-Protocol-Version") < "2026" {
			legacy.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// All that was measured of the bare SDK and that a client can see.
func TestCheckBareServer(t *testing.T) {
	url := bare(t, false)
	failures := func(url, tool string) map[string]check.Result {
		o := try(t, "check", url, tool, "--safe", "--json")
		if o.code != exitToolError {
			t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
		}
		var results []check.Result
		if err := json.Unmarshal([]byte(o.out), &results); err != nil {
			t.Fatalf("%v\n%s", err, o.out)
		}
		found := map[string]check.Result{}
		for _, r := range results {
			if r.Verdict == check.Fail {
				found[r.Name] = r
				if r.Hint == "" || r.Rule == "" || r.Where == "" || r.Came == "" || r.Sent == "" {
					t.Errorf("says too little: %+v", r)
				}
			}
		}
		return found
	}
	found := failures(url, "ShipOrder")
	for name, came := range map[string]string{
		"answer of the wrong type":        "it went through",
		"answer without what is required": "Shipped as <nil>.",
		"answer without an action":        "-32020",
		"answer that nobody asked for":    "-32020",
		"client that cannot be asked":     "HTTP 200, asks",
		"foreign Origin":                  "HTTP 200",
		"nothing beside the question":     "null",
		"client of 2025-11-25":            "does not support elicitation",
		"forged requestState":             "HTTP 200",
		"id beyond 2^53":                  "9007199254740992",
	} {
		if r, ok := found[name]; !ok || !strings.Contains(r.Came, came) {
			t.Errorf("%s: found %+v, want %q", name, r, came)
		}
	}
	if r, ok := failures(bare(t, true), "Twice")["as many questions for older clients"]; !ok || !strings.Contains(r.Came, "asked 2 times in 2026-07-28") {
		t.Errorf("asking twice: %+v", r)
	}
	o := try(t, "check", url, "ShipOrder")
	if o.code != exitToolError || !strings.Contains(o.out, "FAIL    foreign Origin\n        sent  Origin: https://evil.example.com") || !strings.Contains(o.out, "only with --safe") {
		t.Errorf("exit %d\n%s", o.code, o.out)
	}
}

// A server of an older protocol is not blamed for rules that it does not know.
func TestCheckOlderServer(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "old", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return nil, err
		}
		return text(res.Action), nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
			http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Server not initialized"}}`, http.StatusBadRequest)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	o := try(t, "check", s.URL, "T", "--safe", "--json")
	var results []check.Result
	if err := json.Unmarshal([]byte(o.out), &results); err != nil {
		t.Fatalf("%v\n%s%s", err, o.out, o.err)
	}
	for _, r := range results {
		want := check.NotApplicable
		switch r.Name {
		case "a right request", "foreign Origin", "Origin null":
			want = check.Fail
		case "client of 2025-11-25":
			want = check.Pass
		}
		if r.Verdict != want {
			t.Errorf("%s: %s, want %s: %s", r.Name, r.Verdict, want, r.Came)
		}
	}
	if o.code != exitToolError || !strings.Contains(results[0].Hint, "speaks 2025-11-25") {
		t.Errorf("exit %d: %+v", o.code, results[0])
	}
}

func TestSecurity27CheckIsCareful(t *testing.T) {
	try(t, "check", "http://192.0.2.1/").want(t, exitServer, "", "another machine", "--yes")
	try(t, "check", "localhost").want(t, exitServer, "", "is not an http or https URL")
	requests, accepts := 0, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		if strings.Contains(string(body), `"action":"accept"`) {
			accepts++
		}
		if r.Header.Get("User-Agent") != "elicit-check" || r.Header.Get("Authorization") != "Bearer hush" {
			t.Errorf("header %v", r.Header)
		}
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	t.Setenv("ELICIT_TEST_TOKEN", "hush")
	o := try(t, "check", s.URL, "T", "--token-env", "ELICIT_TEST_TOKEN")
	if requests == 0 {
		t.Error("nothing is sent")
	}
	if requests > 60 || accepts > 0 || strings.Contains(o.out+o.err, "hush") || o.code != exitToolError {
		t.Errorf("%d requests, %d accepts, exit %d\n%s%s", requests, accepts, o.code, o.out, o.err)
	}
}

// A server that quotes what it was sent does not make the check print it.
func TestSecurity27CredentialsAreNotQuoted(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"not known: %s, %s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
	}))
	defer s.Close()
	t.Setenv("ELICIT_TEST_TOKEN", "hush-token")
	for _, flags := range [][]string{nil, {"--json"}} {
		o := try(t, append([]string{"check", s.URL, "T", "--token-env", "ELICIT_TEST_TOKEN", "--header", "X-Api-Key: hush key"}, flags...)...)
		if o.code != exitToolError || strings.Contains(o.out+o.err, "hush") || !strings.Contains(o.out, "not known: [redacted], [redacted]") {
			t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
		}
	}
}
