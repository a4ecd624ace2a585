// Calls a tool as a client with @modelcontextprotocol/ext-tasks does, and drives its task to the end, for the tests in ../interop.
//
//   node tasks.mjs URL TOOL CONTENT…
//
// The forms that the task asks are accepted with CONTENT (JSON), one after the other. What happened is reported by one line of
// JSON on standard output:
//
//   {"kind": "task", "statuses": ["working", "input_required", …], "asked": [{"inputId": …, "message": …}], "status": "completed", "isError": false, "text": …}
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';

const [url, tool, ...contents] = process.argv.slice(2);

const clientInfo = { name: 'elicit-e2e', version: '1.0.0' };
const clientCapabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const protocolVersion = '2026-07-28';
const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode: { pin: protocolVersion } } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

// The SDK's client does not know the results of the extension, which therefore asks for a way around its codecs.
let id = 0;
async function rawDispatch(request, { signal } = {}) {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': protocolVersion,
    'Mcp-Method': request.method,
  };
  const name = request.params.taskId ?? request.params.name;
  if (name !== undefined) {
    headers['Mcp-Name'] = name;
  }
  const response = await fetch(url, { method: 'POST', headers, signal, body: JSON.stringify({ ...request, jsonrpc: '2.0', id: `raw-${++id}` }) });
  const { result, error } = await response.json();
  return error ? { kind: 'error', error } : { kind: 'result', result };
}

const asked = [];
const statuses = [];
const session = createTaskSessionFromClient(client, {
  endpointId: 'elicit',
  rawDispatch,
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
  onInputRequest: async ({ params }, { inputId }) => {
    asked.push({ inputId, message: params.message });
    return { action: 'accept', content: JSON.parse(contents[asked.length - 1]) };
  },
});
try {
  const execution = await session.callTool(tool, {});
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type === 'task' && statuses.at(-1) !== event.task.status) {
        statuses.push(event.task.status);
      }
    },
  });
  const { status, result } = outcome;
  console.log(JSON.stringify({ kind: execution.kind, statuses, asked, status, isError: result?.isError ?? false, text: result?.content?.map(({ text }) => text).join('\n') }));
} finally {
  await session.close();
  await client.close();
}
