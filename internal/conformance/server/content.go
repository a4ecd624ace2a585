package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addContent adds a tool for each kind of content.
func addContent(server *mcp.Server) {
	text := &mcp.TextContent{Text: "A text."}
	picture := &mcp.ImageContent{Data: redDot(), MIMEType: "image/png"}
	for _, t := range []struct {
		name, description string
		content           []mcp.Content
	}{
		{"test_simple_text", "Returns a text.", []mcp.Content{text}},
		{"test_image_content", "Returns an image.", []mcp.Content{picture}},
		{"test_audio_content", "Returns a sound.", []mcp.Content{&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"}}},
		{"test_embedded_resource", "Returns a resource.", []mcp.Content{embedded("test://embedded")}},
		{"test_multiple_content_types", "Returns a text, an image and a resource.",
			[]mcp.Content{text, picture, embedded("test://mixed")}},
	} {
		mcp.AddTool(server, &mcp.Tool{Name: t.name, Description: t.description},
			func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: t.content}, nil, nil
			})
	}
	mcp.AddTool(server, &mcp.Tool{Name: "test_error_handling", Description: "Fails."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("this tool always fails")
		})
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded text."}}
}

// redDot is a PNG image of one red pixel.
func redDot() []byte {
	dot := image.NewRGBA(image.Rect(0, 0, 1, 1))
	dot.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, dot); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// silence is a WAV sound of one sample: 16 bits, mono, 8 kHz.
func silence() []byte {
	const rate, width = 8000, 2
	var b bytes.Buffer
	b.WriteString("RIFF")
	write := func(v any) { binary.Write(&b, binary.LittleEndian, v) } // a bytes.Buffer takes all
	write(uint32(36 + width))
	b.WriteString("WAVEfmt ")
	write(uint32(16))                   // length of what follows
	write([]uint16{1, 1})               // PCM, one channel
	write([]uint32{rate, rate * width}) // samples and bytes per second
	write([]uint16{width, 8 * width})   // bytes and bits per sample
	b.WriteString("data")
	write(uint32(width))
	write(uint16(0))
	return b.Bytes()
}
