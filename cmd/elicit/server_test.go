package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// With ELICIT_TEST_SERVER set, the tests' binary is a server on its standard input and output.
func TestMain(m *testing.M) {
	if os.Getenv("ELICIT_TEST_SERVER") != "" {
		fmt.Fprintln(os.Stderr, "serving\x1b[31m")
		if err := newShop().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestStdio(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ELICIT_TEST_SERVER", "1")
	for _, protocol := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		call := func(flags ...string) outcome {
			args := append([]string{"call", "ShipOrder", "--protocol", protocol}, flags...)
			return try(t, append(args, "--", self, "--some-flag")...)
		}
		o := call("--answer", "ship.trackingNumber=1Z999", "--wire")
		o.want(t, exitOK, "Shipped as 1Z999.\n", "| serving", "--- message 1, sent", "trackingNumber")
		if strings.Contains(o.err, "\x1b") {
			t.Errorf("escape sequences: %q", o.err)
		}
		call("--decline", "ship").want(t, exitOK, "Shipping cancelled.\n")
		call().want(t, exitUnanswered, "", `"trackingNumber"`)
	}
	try(t, "tools", "--", self).want(t, exitOK, "ShipOrder\n    Asks for a tracking number, then ships.\n")
	try(t, "call", "ShipOrder", "--token-env", "X", "--", self).want(t, exitUsage, "", "servers with a URL")
	try(t, "call", "http://localhost:1/", "ShipOrder", "--", self).want(t, exitUsage, "", "not both")
	try(t, "call", "ShipOrder", "--").want(t, exitUsage, "", "follows --")
	try(t, "call", "ShipOrder", "--", self+"-is-not-there").want(t, exitServer, "", "no such file")
}

func TestTools(t *testing.T) {
	url := shop(t)
	try(t, "tools", url).want(t, exitOK, "Blocks\nEcho\n    arguments: b, l, n, o, s\nFail\nShipOrder\nStructured\n")
	if o := try(t, "tools", url, "--json"); o.code != exitOK || !strings.Contains(o.out, `"name": "Echo"`) {
		t.Errorf("%+v", o)
	}
}

func TestPreview(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	typed(t, "f\nx\ns\n", "preview", write("schema", `{"type":"object","properties":{"note":{"type":"string","pattern":"a"}}}`)).
		want(t, exitOK, "{\n  \"form\": {\n    \"action\": \"accept\",\n    \"content\": {\n      \"note\": \"x\"\n    }\n  }\n}\n", "pattern", "This is a preview.")
	typed(t, "d\n", "preview", write("result", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"ship":{"method":"elicitation/create","params":{"message":"Ship this order","requestedSchema":{"type":"object","properties":{"note":{"type":"string"}}}}}}}}`)).
		want(t, exitOK, "{\n  \"ship\": {\n    \"action\": \"decline\"\n  }\n}\n", "Ship this order")
	typed(t, "", "preview", write("bad", `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}`)).want(t, exitUsage, "", `"a"`)
	typed(t, "", "preview", write("worse", `[`)).want(t, exitUsage, "", "not JSON")
	try(t, "preview", filepath.Join(dir, "schema")).want(t, exitUsage, "", "--browser")
}

// --web asks on a page, also where there is no terminal.
func TestWeb(t *testing.T) {
	for _, flag := range []string{"--web", "--browser"} {
		con := &console{in: strings.NewReader(""), open: func(ctx context.Context, address string) error {
			res, err := http.Get(address) // Follows to where the page is.
			if err != nil {
				return err
			}
			defer res.Body.Close()
			page, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(page), "Ship this order") {
				t.Errorf("%v in\n%s", err, page)
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, res.Request.URL.String(), strings.NewReader("button=decline"))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Origin", "http://"+res.Request.URL.Host)
			done, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			return done.Body.Close()
		}}
		tryWith(t, con, "call", shop(t), "ShipOrder", flag).want(t, exitOK, "Shipping cancelled: decline.\n", "Answer in your browser. If no page appears: http://127.0.0.1:")
		try(t, "call", "http://localhost:1/", "T", flag, "--terminal").want(t, exitUsage, "", "exclude each other")
	}
}
