import { describe, expect, test } from 'vitest';
import { printedBy, python } from '../support/python.ts';
import { startServer } from '../support/server.ts';

const API_KEY = 'key-of-the-test';
const GRAPHS = {
  assistant: 'examples/assistant/graph.ts:graph',
  echo: 'examples/echo/graph.ts:graph',
  sleeper: 'test/fixtures/graphs/sleeper.ts:graph',
};

const CHAT = {
  first: 'metadata',
  nodes: ['agent', 'tools', 'agent'],
  streamed: true,
  model_events: true,
  types: ['human', 'ai', 'tool', 'ai'],
};

describe.runIf(python)('the Python SDK (where a Python has langgraph_sdk)', () => {
  test('chats, resumes an interrupt, forks, runs without a thread, joins and cancels', async () => {
    await using server = await startServer({ graphs: GRAPHS, api_keys: [API_KEY] });
    expect(await printedBy('python_sdk.py', server.url, API_KEY)).toEqual({
      human: CHAT,
      user: CHAT,
      approval: {
        asked: 'send_email',
        status: ['interrupted', 'idle'],
        interrupts: [1, 0],
        answer: true,
      },
      fork: { same: true, contents: ['one', 'one', 'other', 'other'], older: true },
      stateless: { streamed: 1, waited: 1 },
      background: { joined: ['one'], streamed: ['one'], status: ['success', 'interrupted'] },
    });
  });
});
