import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { A2A_FOLDER, message, rpcTo } from '../../support/a2a.ts';
import { senderTo } from '../../support/a2a-calls.ts';
import { openApp } from '../../support/app.ts';
import { askModern } from '../../support/mcp-messages.ts';
import { naming } from '../../support/naming.ts';

const budgets = { thread: {}, user_day: {}, key_day: {}, day: { max_steps: 1 } };
const refused = naming('1 of 1 steps', 'runs.budgets.day.max_steps');

test('errors of A2A, MCP and OpenAI name the exhausted budget', async () => {
  await using http = await openApp({
    graphs: ['chat'],
    folder: A2A_FOLDER,
    http: { openai: { enabled: true } },
    runs: { budgets },
  });
  const rpc = rpcTo(http, 'chat');
  const used = await rpc('SendMessage', { message: message('hello') });
  expect(used.error).toBeUndefined();

  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message('hello') } };
  const again = await http.post('/a2a/chat', body);
  expect([again.status, again.body.detail]).toEqual([429, refused]);
  expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);

  const called = await askModern(http, 'tools/call', { name: 'chat', arguments: { messages: 'hello' } });
  expect(JSON.stringify(called)).toEqual(refused);

  const messages = [{ role: 'user', content: 'hello' }];
  const completed = await http.post('/v1/chat/completions', { model: 'chat', messages });
  expect([completed.status, JSON.stringify(completed.body)]).toEqual([429, refused]);

  const cron = await http.post('/runs/crons', { assistant_id: 'chat', schedule: '0 0 1 1 *' });
  const triggered = await http.post(`/runs/crons/${cron.body.cron_id}/trigger`);
  expect([triggered.status, triggered.body.detail]).toEqual([429, refused]);
});

test('an A2A task that reaches a budget asks whether to continue', async () => {
  await using http = await openApp({
    graphs: ['two-interrupts'],
    folder: resolve(import.meta.dirname, '../../fixtures/budgets'),
    runs: { on_budget: 'interrupt', max_steps: 1 },
  });
  const send = senderTo(http, 'two-interrupts');
  const asked = await send([{ data: {} }]);
  const question = naming('1 of 1 steps', 'runs.max_steps');
  const parts = [{ text: question }, { data: { interrupts: [{ value: { type: 'budget' } }] } }];
  expect(asked.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts } });
  const continued = await send([{ text: 'yes' }], { message: { taskId: asked.id } });
  expect(continued.status.message?.parts[0]?.text).toBe('really?');
});
