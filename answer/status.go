package answer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An HTTPError reports that a request was answered by an HTTP status that says more than any message of MCP: by a server that
// failed, by one that wants credentials, by a proxy, or by something that is no MCP server at all. A *jsonrpc.Error that came
// with a 500, 502, 503, 504 or 429 is inside, for errors.As.
type HTTPError struct {
	Status int    // 500
	Text   string // the beginning of the body where that is text, on one line and fit to be shown; may be empty

	err error // the server's, or the SDK's
}

func (e *HTTPError) Error() string {
	what := fmt.Sprintf("the server answered with HTTP %d", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		what += " " + name
	}
	if e.Text != "" && e.Text != http.StatusText(e.Status) {
		what += fmt.Sprintf(" %q", e.Text)
	}
	return what
}

func (e *HTTPError) Unwrap() error { return e.err }

// statusError is the HTTPError of a response, or nil where the SDK passes on a JSON-RPC error that its body has.
func statusError(status int, media string, body []byte) *HTTPError {
	if status >= 200 && status < 300 {
		return nil
	}
	const most = 200
	text := ""
	var inside error
	if rawjson.Check(body, maxDepth) == nil {
		if msg, err := jsonrpc.DecodeMessage(body); err == nil {
			if res, ok := msg.(*jsonrpc.Response); ok {
				inside = res.Error
			}
		}
		switch status {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			// The SDK does not look at the body.
		default:
			if inside != nil {
				return nil
			}
		}
		problem, _ := rawjson.Get(body, "error")
		message, _ := rawjson.Get(problem, "message")
		text, _ = rawjson.String(message)
		text = PlainLine(text)
	}
	if text != "" {
		// An error that names no request.
	} else if media == "text/plain" || media == "application/json" || media == "application/problem+json" {
		text = PlainLine(string(body[:min(len(body), 4*most)]))
	}
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return &HTTPError{Status: status, Text: text, err: inside}
}

// A fault is what kept a request from being answered, where the SDK says no more than that it was "rejected by transport".
type fault struct{ err atomic.Pointer[error] }

type faultKey struct{}

// noteFault notes in the fault that ctx carries, if any, what became of a request; nil is good.
func noteFault(ctx context.Context, err error) {
	if f, ok := ctx.Value(faultKey{}).(*fault); ok {
		f.err.Store(&err)
	}
}

// explain is a middleware that puts the reason in the place of the SDK's words.
func explain(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var f fault
		res, err := next(context.WithValue(ctx, faultKey{}, &f), method, req)
		why := f.err.Load()
		if err == nil || why == nil || *why == nil || ctx.Err() != nil {
			return res, err
		}
		var status *HTTPError
		if errors.As(*why, &status) && status.err == nil {
			status.err = err
		}
		return nil, *why
	}
}
