// A TypeScript SDK server with a form that has every kind, a titled choice and a multi-select among them, for the tests in
// ../interop.
//
//   node server.mjs           on standard input and output
//   node server.mjs HOST PORT over HTTP
import { createServer } from 'node:http';
import { createMcpHandler, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const requestedSchema = {
  type: 'object',
  properties: {
    zebra: { type: 'string', title: 'Zebra', minLength: 2 },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    carrier: { type: 'string', title: 'Carrier', oneOf: [{ const: 'ups', title: 'UPS' }, { const: 'dhl', title: 'DHL' }] },
    extras: { type: 'array', title: 'Extras', minItems: 1, items: { anyOf: [{ const: 'i', title: 'Insurance' }, { const: 's', title: 'Signature' }] } },
    order: { type: 'integer', title: 'Order' },
    apple: { type: 'boolean', title: 'Apple', default: true },
  },
  required: ['zebra', 'carrier', 'extras'],
};

function factory() {
  const server = new McpServer({ name: 'typescript', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('Pack', { description: 'Asks for a form.' }, async (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'parcel');
    if (answer.kind === 'missing') {
      return inputRequired({ inputRequests: { parcel: inputRequired.elicit({ message: 'What do we pack?', requestedSchema }) } });
    }
    return { content: [{ type: 'text', text: JSON.stringify([answer.action, answer.content ?? null]) }] };
  });
  return server;
}

const [host, port] = process.argv.slice(2);
if (host) {
  const handler = createMcpHandler(factory);
  createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const response = await handler.fetch(
      new Request(`http://${req.headers.host}${req.url}`, {
        method: req.method,
        headers: req.headers,
        body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
      }),
    );
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) for await (const chunk of response.body) res.write(chunk);
    res.end();
  }).listen(Number(port), host);
} else {
  serveStdio(factory);
}
