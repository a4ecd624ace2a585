package page

import (
	"context"
	"errors"
	"strings"
	"weak"

	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The seam of elicittest.
func init() {
	tool.CompletePage = func(ctx context.Context, server *mcp.Server, url string, value any) error {
		k, ok := enabled.Load(weak.Make(server))
		if !ok {
			return errors.New("the server has no pages: call page.Enable")
		}
		p := k.(weak.Pointer[Pages]).Value()
		if p == nil {
			return errors.New("the server's pages are gone")
		}
		t, err := p.openTicket(url[strings.LastIndexByte(url, '/')+1:])
		if err != nil {
			return err
		}
		f, ok := p.declared(t.Shape).(completer)
		if !ok {
			return nil // its page is elsewhere
		}
		return f.completeAs(ctx, p, t, value)
	}
}
