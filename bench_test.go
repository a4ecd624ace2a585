package elicit_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elicit-go/elicit"
)

// The two POSTs of a call that asks once, without a network between.
func BenchmarkAskAndAnswer(b *testing.B) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "ShipOrder", shipOrder, elicit.Asks(ship))
	h := shop.Handler(nil)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	bodies := [][]byte{
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ShipOrder","arguments":{},` + meta + `}}`),
		[]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ShipOrder","arguments":{},"inputResponses":{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}},` + meta + `}}`),
	}
	want := [][]byte{[]byte("input_required"), []byte("Shipped as 1Z999.")}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"ShipOrder"}}
	b.ReportAllocs()
	for b.Loop() {
		for i, body := range bodies {
			r := httptest.NewRequest("POST", "/", nil)
			r.Header = header
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if !bytes.Contains(w.Body.Bytes(), want[i]) {
				b.Fatal(w.Body.String())
			}
		}
	}
}
