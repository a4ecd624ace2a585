package wire

import (
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Custom makes the request of a method that was added to a server (mcp.AddReceivingCustomMethod), as the SDK would of the
// same message, for a host that calls the server's chain itself. Meta is the request's own.
type Custom func(session *mcp.ServerSession, extra *mcp.RequestExtra, meta mcp.Meta, m *Message) mcp.Request

type customKey struct {
	server weak.Pointer[mcp.Server]
	method string
}

var customs sync.Map // customKey → Custom

// AddCustom says how requests of a method of a server are made. f must not keep the server alive.
func AddCustom(server *mcp.Server, method string, f Custom) {
	key := customKey{weak.Make(server), method}
	customs.Store(key, f)
	runtime.AddCleanup(server, func(key customKey) { customs.Delete(key) }, key)
}

// CustomOf is what AddCustom said, or nil.
func CustomOf(server *mcp.Server, method string) Custom {
	f, _ := customs.Load(customKey{weak.Make(server), method})
	custom, _ := f.(Custom)
	return custom
}
