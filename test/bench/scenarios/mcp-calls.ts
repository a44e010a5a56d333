import { type BenchServer, benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const CALLS = 200;
const ASSISTANTS = 1000;
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { messages: 'Hello' } },
};

/** A call of a tool: what the protocol adds to a run, with few assistants and with many. */
export const mcpCalls: Scenario = {
  title: 'MCP tools/call, graph echo',
  async run() {
    await using server = await benchServer();
    await calls(server, 'warm-up');
    const few = await calls(server, 'few assistants:');
    for (let i = 0; i < ASSISTANTS; i++) {
      await server.http.call('POST', '/assistants', { graph_id: 'echo', name: `Echo ${i}` });
    }
    return [...few, ...(await calls(server, `${ASSISTANTS} assistants:`))];
  },
};

async function calls({ http }: BenchServer, what: string): Promise<Measurement[]> {
  const request = () => http.call('POST', '/mcp', CALL);
  const { latencies_ms } = await measureLoad({ concurrency: 1, count: CALLS, request });
  return percentiles(what, latencies_ms);
}
