import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

test('chat completions, A2A and MCP refuse an assistant whose recursion limit exceeds that of the server', async () => {
  await using http = await openApp({
    graphs: ['zod-state'],
    runs: { max_recursion_limit: 100 },
    http: { openai: { enabled: true } },
    // As an assistant that was made before the limit was lowered.
    environment: { LANGGRAPH_CONFIG: JSON.stringify({ 'zod-state': { recursion_limit: 5000 } }) },
  });
  const chat = { model: 'zod-state', messages: [{ role: 'user', content: 'x' }] };
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { topic: 'tea' } }] };
  const call = { name: 'zod-state', arguments: { topic: 'tea' } };
  const { assistant_id: agent } = (await http.post('/assistants/search', { graph_id: 'zod-state' })).body[0];
  const doors = [
    await http.post('/v1/chat/completions', chat),
    await http.post(
      `/a2a/${agent}`,
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
      { 'a2a-version': '1.0' },
    ),
    await http.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      { accept: 'application/json, text/event-stream' },
    ),
  ];
  for (const { text } of doors) expect(text).toContain('must be a whole number of steps from 1 to 100');
});
