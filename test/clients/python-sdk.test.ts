import { execFile, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const API_KEY = 'key-of-the-test';
const GRAPHS = {
  assistant: 'examples/assistant/graph.ts:graph',
  echo: 'examples/echo/graph.ts:graph',
  sleeper: 'test/fixtures/graphs/sleeper.ts:graph',
};

/** A Python that can import the client: TEST_PYTHON, else that of `.venv`, else the one of the machine. */
const python = [process.env['TEST_PYTHON'], join(ROOT, '.venv/bin/python'), 'python3']
  .filter((path) => path !== undefined)
  .find((path) => spawnSync(path, ['-c', 'import langgraph_sdk']).status === 0);

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
    const script = join(import.meta.dirname, 'python_sdk.py');
    const { stdout } = await promisify(execFile)(python ?? '', [script, server.url, API_KEY]);

    expect(JSON.parse(stdout)).toEqual({
      human: CHAT,
      user: CHAT,
      approval: {
        asked: 'May I call send_email?',
        status: ['interrupted', 'idle'],
        interrupts: [1, 0],
        answer: true,
      },
      fork: { same: true, contents: ['one', 'one', 'other', 'other'], older: true },
      stateless: { streamed: 1, waited: 1 },
      background: { joined: ['one'], status: ['success', 'interrupted'] },
    });
  });
});
