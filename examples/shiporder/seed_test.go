package main

// The messages of "Understanding form elicitation", the page this example follows, as they stand there.

const headers = `POST / HTTP/1.1
Host: localhost:5280
Content-Type: application/json
Accept: application/json, text/event-stream
MCP-Protocol-Version: 2026-07-28
Mcp-Method: tools/call
Mcp-Name: ShipOrder
`

const post1 = `{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "tools/call",
  "params": {
    "name": "ShipOrder",
    "arguments": {},
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": { "form": {} }
      }
    }
  }
}`

const result1 = `{
  "jsonrpc": "2.0",
  "id": 1,
  "result": {
    "resultType": "input_required",
    "inputRequests": {
      "ship": {
        "method": "elicitation/create",
        "params": {
          "mode": "form",
          "message": "Ship this order",
          "requestedSchema": {
            "type": "object",
            "properties": {
              "trackingNumber": {
                "type": "string",
                "title": "Tracking Number"
              }
            },
            "required": ["trackingNumber"]
          }
        }
      }
    }
  }
}`

const formAnswer = `{
  "action": "accept",
  "content": { "trackingNumber": "1Z999" }
}`

const post2 = `{
  "jsonrpc": "2.0",
  "id": 2,
  "method": "tools/call",
  "params": {
    "name": "ShipOrder",
    "arguments": {},
    "inputResponses": {
      "ship": {
        "action": "accept",
        "content": { "trackingNumber": "1Z999" }
      }
    },
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": { "form": {} }
      }
    }
  }
}`

const result2 = `{
  "jsonrpc": "2.0",
  "id": 2,
  "result": {
    "resultType": "complete",
    "content": [
      { "type": "text", "text": "Shipped as 1Z999." }
    ]
  }
}`
