// Measures tasks of the official TypeScript SDK (1.x, whose tasks are those of 2025-11-25) in its in-memory store, as
// bench/stores measures ours: tasks that wait, in the process and without HTTP. Each argument is a number of tasks; for each
// a line of JSON says what the next ones up to there took.
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';

const clients = 32;
const server = new McpServer({ name: 'shop', version: '1' }, {
  capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  taskStore: new InMemoryTaskStore(),
});
server.experimental.tasks.registerToolTask('Deploy', { execution: { taskSupport: 'required' } }, {
  createTask: async extra => ({ task: await extra.taskStore.createTask({ ttl: 24 * 3600 * 1000 }) }),
  getTask: async extra => extra.taskStore.getTask(extra.taskId),
  getTaskResult: async extra => extra.taskStore.getTaskResult(extra.taskId),
});

const [here, there] = InMemoryTransport.createLinkedPair();
const pending = new Map();
let last = 0;
here.onmessage = m => {
  pending.get(m.id)?.(m);
  pending.delete(m.id);
};
const request = async (method, params) => {
  const id = ++last;
  const answer = new Promise(resolve => pending.set(id, resolve));
  await here.send({ jsonrpc: '2.0', id, method, params });
  const m = await answer;
  if (!m.result) throw new Error(`${method}: ${JSON.stringify(m)}`);
  return m.result;
};

await server.connect(there);
await here.start();
await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
await here.send({ jsonrpc: '2.0', method: 'notifications/initialized' });

const ids = [];
for (const size of process.argv.slice(2).map(Number)) {
  const had = ids.length;
  let left = size - had;
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) {
      const { task } = await request('tools/call', { name: 'Deploy', arguments: {}, task: {} });
      if (task?.status !== 'working') throw new Error(`no task: ${JSON.stringify(task)}`);
      ids.push(task.taskId);
    }
  }));
  const seconds = (performance.now() - start) / 1000;
  const gets = [];
  for (let n = 0; n < Math.min(2000, ids.length); n++) {
    const id = ids[(n * 7919) % ids.length];
    const start = performance.now();
    const task = await request('tasks/get', { taskId: id });
    gets.push(performance.now() - start);
    if (task.taskId !== id || task.status !== 'working') throw new Error(`tasks/get: ${JSON.stringify(task)}`);
  }
  globalThis.gc?.();
  console.log(JSON.stringify({ size, created: had < size ? (size - had) / seconds : 0, gets, resident: process.memoryUsage().rss }));
}
process.exit(0);
