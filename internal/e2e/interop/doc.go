// Package interop tests the examples, and servers of its own, with clients written by others: the TypeScript SDK's, and
// MCP Inspector's.
package interop
