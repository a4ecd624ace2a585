// Package conformance runs the official MCP conformance suite against internal/conformance/server.
package conformance
