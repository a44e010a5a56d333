import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Command, MemorySaver } from '@langchain/langgraph';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { graph } from '../../examples/assistant/graph.ts';
import { onThreads } from './on-threads.ts';

interface ChatRequest {
  model: string;
  tools: { function: { name: string } }[];
  messages: { role: string; content: string; tool_call_id?: string }[];
}

const CALLS = [
  { index: 0, id: 'call_a', function: { name: 'search_notes', arguments: '{"query":"opening hours"}' } },
  {
    index: 1,
    id: 'call_b',
    function: { name: 'send_email', arguments: '{"to":"ana@example.com","subject":"Hours","body":"9:30"}' },
  },
];

type Input = Parameters<typeof graph.stream>[0];

let endpoint: Server;
let requests: ChatRequest[];
let outbox: string;

/** Speaks the streaming chat completions of OpenAI: first two tool calls at once, then words. */
beforeEach(async () => {
  requests = [];
  endpoint = createServer(async (request, response) => {
    requests.push((await json(request)) as ChatRequest);
    const deltas =
      requests.length === 1 ? [{ tool_calls: CALLS }] : [{ content: 'We open ' }, { content: 'at 9:30.' }];
    const id = `chatcmpl-${requests.length}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const delta of deltas) {
      const choice = { index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null };
      response.write(
        `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', choices: [choice] })}\n\n`,
      );
    }
    response.end('data: [DONE]\n\n');
  }).listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
  vi.stubEnv('OUTBOX', outbox);
  vi.stubEnv('OPENAI_BASE_URL', `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`);
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_MODEL', 'local-model');
});

afterEach(() => {
  vi.unstubAllEnvs();
  endpoint.closeAllConnections();
  endpoint.close();
});

/** The words of the answer after the decision. */
async function askAndDecide(type: 'approve' | 'reject'): Promise<string[]> {
  const assistant = onThreads(graph, new MemorySaver());
  const config = { configurable: { thread_id: 't' }, streamMode: 'messages' as const };
  const words: string[] = [];
  for (const input of [
    { messages: 'Send ana the opening hours' },
    new Command({ resume: { decisions: [{ type }] } }),
  ]) {
    for await (const [chunk, { langgraph_node }] of await assistant.stream(input as Input, config)) {
      if (langgraph_node === 'agent' && chunk.text !== '') words.push(chunk.text);
    }
  }
  return words;
}

test('the assistant uses an OpenAI-compatible endpoint if configured, with all tools', async () => {
  expect(await askAndDecide('approve')).toEqual(['We open ', 'at 9:30.']);
  expect(requests[0]).toMatchObject({ model: 'local-model', stream: true });
  expect(requests[0]?.tools.map((tool) => tool.function.name)).toEqual(['search_notes', 'send_email']);
  expect(requests[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
});

test.each([
  ['approve', 1, /in the outbox/],
  ['reject', 0, /was rejected/],
] as const)(
  'if the model calls two tools at once, only the sensitive one waits for a person (%s)',
  async (decision, mails, answer) => {
    await askAndDecide(decision);

    const results = requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(results.find(({ tool_call_id }) => tool_call_id === 'call_a')?.content).toMatch(
      /opening-hours\.md/,
    );
    expect(results.find(({ tool_call_id }) => tool_call_id === 'call_b')?.content).toMatch(answer);
    expect(results).toHaveLength(2);
    expect(await readdir(outbox)).toHaveLength(mails);
  },
);
