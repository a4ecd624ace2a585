// Sends requests as a TypeScript SDK client and reports what happened, for the tests in ../interop.
//
//   node client.mjs URL MODE ACTION CONTENT REQUEST…
//
// MODE is how the client chooses a protocol revision: default, auto, or a revision to pin. Every form it is asked for
// is answered with ACTION (accept, decline or cancel) and, when it accepts, with CONTENT (JSON). A REQUEST is
// {"method": …, "params": …}; they are sent one after the other, over one connection. Each is reported by one line of JSON
// on standard output; text is that of a tool's result, a prompt's messages or a resource's contents:
//
//   {"version": "2026-07-28", "asked": [{"message": …, "requestedSchema": …}], "isError": false, "text": …}
//   {"version": "2026-07-28", "asked": […], "error": {"code": -32603, "message": …}}
//
// With ELICIT_URL=1 the client also declares that it can open pages. Each one that it is asked to open is agreed to with
// ACTION, and reported as it comes, before the report of its request; so is what 2025-11-25 has for the end of it:
//
//   {"open": "https://…", "id": …}
//   {"done": …}
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode, action, content, ...requests] = process.argv.slice(2);

const modes = { default: undefined, auto: { mode: 'auto' } };
const client = new Client(
  { name: 'elicit-e2e', version: '1.0.0' },
  {
    capabilities: { elicitation: process.env.ELICIT_URL ? { form: {}, url: {} } : { form: {} } },
    versionNegotiation: mode in modes ? modes[mode] : { mode: { pin: mode } },
  },
);

let asked = [];
client.setRequestHandler('elicitation/create', async ({ params }) => {
  if (params.mode === 'url') {
    console.log(JSON.stringify({ open: params.url, id: params.elicitationId }));
    return { action };
  }
  asked.push({ message: params.message, requestedSchema: params.requestedSchema });
  return action === 'accept' ? { action, content: JSON.parse(content) } : { action };
});

client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
  console.log(JSON.stringify({ done: params.elicitationId }));
});

// What sends each method, and where its result has texts.
const methods = {
  'tools/call': [(params) => client.callTool(params), (result) => result.content],
  'prompts/get': [(params) => client.getPrompt(params), (result) => result.messages.map((message) => message.content)],
  'resources/read': [(params) => client.readResource(params), (result) => result.contents],
};

async function outcome({ method, params }) {
  const [send, parts] = methods[method];
  try {
    const result = await send(params);
    return { isError: result.isError ?? false, text: parts(result).map((part) => part.text).join('\n') };
  } catch (error) {
    if (!(error instanceof ProtocolError)) {
      throw error;
    }
    return { error: { code: error.code, message: error.message } };
  }
}

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
try {
  for (const request of requests) {
    asked = [];
    const ended = await outcome(JSON.parse(request));
    console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion(), asked, ...ended }));
  }
} finally {
  await client.close();
}
