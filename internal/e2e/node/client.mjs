// Calls one tool as a TypeScript SDK client and reports what happened, for the tests in ../interop.
//
//   node client.mjs URL MODE TOOL ACTION [CONTENT]
//
// MODE is how the client chooses a protocol revision: default, auto, or a revision to pin. Every form it is asked for
// is answered with ACTION (accept, decline or cancel) and, when it accepts, with CONTENT (JSON). The report is one line
// of JSON on standard output:
//
//   {"version": "2026-07-28", "asked": [{"message": …, "requestedSchema": …}], "isError": false, "text": …}
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode, tool, action, content = '{}'] = process.argv.slice(2);

const modes = { default: undefined, auto: { mode: 'auto' } };
const client = new Client(
  { name: 'elicit-e2e', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: mode in modes ? modes[mode] : { mode: { pin: mode } },
  },
);

const asked = [];
client.setRequestHandler('elicitation/create', async ({ params }) => {
  asked.push({ message: params.message, requestedSchema: params.requestedSchema });
  return action === 'accept' ? { action, content: JSON.parse(content) } : { action };
});

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
try {
  const result = await client.callTool({ name: tool, arguments: {} });
  console.log(
    JSON.stringify({
      version: client.getNegotiatedProtocolVersion(),
      asked,
      isError: result.isError ?? false,
      text: result.content.map((block) => block.text).join('\n'),
    }),
  );
} finally {
  await client.close();
}
