import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const NONE = { thread: {}, user_day: {}, key_day: {}, day: {} };

test('a budget stops a run in a graph host between its steps, and those of a subgraph', async () => {
  await using http = await openApp({
    graphs: ['nested'],
    folder: resolve(import.meta.dirname, '../fixtures/budgets'),
    environment: { AGENT_SERVER_HOSTS: '1' },
    runs: { max_tokens: 250, on_budget: 'interrupt', budgets: NONE },
  });
  const thread_id = await http.thread();
  const run = async (body: object) =>
    (await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'nested', ...body })).body;
  const stopped = await run({ input: { done: 0 } });
  expect(stopped).toMatchObject({ __interrupt__: [{ value: { type: 'budget', used: 300, max: 250 } }] });
  expect((await http.get(`/threads/${thread_id}`)).body.status).toBe('interrupted');
  expect(await run({ command: { resume: true } })).toMatchObject({ done: 5 });
});
