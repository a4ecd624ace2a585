package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds a text, an image, a text to subscribe to, and a template.
func addResources(server *mcp.Server) {
	for _, r := range []struct {
		resource mcp.Resource
		text     string
		blob     []byte
	}{
		{mcp.Resource{URI: "test://static-text", Name: "text", MIMEType: "text/plain"}, "A text.", nil},
		{mcp.Resource{URI: "test://static-binary", Name: "image", MIMEType: "image/png"}, "", redDot()},
		{mcp.Resource{URI: "test://watched-resource", Name: "watched", MIMEType: "text/plain"}, "A text to subscribe to.", nil},
	} {
		server.AddResource(&r.resource, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: r.resource.URI, MIMEType: r.resource.MIMEType, Text: r.text, Blob: r.blob},
			}}, nil
		})
	}
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "text/plain"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: req.Params.URI, MIMEType: "text/plain", Text: "The data of " + req.Params.URI},
			}}, nil
		})
}
