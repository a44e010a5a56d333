import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { expectCut, MAX_ERROR_BYTES } from '../support/failure-texts.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let hook: Receiver;
beforeAll(async () => {
  hook = await receiver();
  const folder = resolve(import.meta.dirname, '../fixtures/throws');
  server = await openApp({ graphs: ['echoes'], folder, environment: TO_RECEIVER });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

test('a long error is truncated wherever it is reported', async () => {
  const input = { text: '😀'.repeat(500), times: 10_000 };
  const length = '10,000,016';
  const at = `/threads/${await server.thread()}`;
  const run = { assistant_id: 'echoes', input, webhook: `${hook.url}/told` };
  const stream_mode = ['tasks', 'updates'];
  const { text } = await server.post(`${at}/runs/stream`, { ...run, stream_mode, stream_resumable: true });

  expect(text.length).toBeLessThan(6 * MAX_ERROR_BYTES);
  const told = [...text.matchAll(/^data: (.*"RangeError".*)\r$/gm)].map(([, data = '']) => JSON.parse(data));
  expect(told).toHaveLength(2);
  for (const { error, message = error.message } of told) expectCut(message, length);
  expectCut((await server.get(at)).body.error.message, length);
  const [{ error }] = (await server.get(`${at}/state`)).body.tasks;
  expectCut(error.replace('RangeError: ', ''), length);
  const [{ run_id }] = (await server.get(`${at}/runs`)).body;
  expectCut((await server.get(`${at}/runs/${run_id}/join`)).body.__error__.message, length);
  const { summary } = (await server.get(`${at}/runs/${run_id}/explain`)).body;
  expectCut(summary.replace(/^.*?RangeError: /s, ''), length);
  await hook.came(1);
  const [received] = hook.received;
  expectCut((received?.body['error'] as { message: string } | undefined)?.message ?? '', length);
});

/** Each takes minutes where one expression or loop is not linear, and nobody else is answered meanwhile. */
test.each([
  ['a word', 'x'],
  ['a host', 'a://b'],
  ['folders', '/a'],
  ['addresses', 'a://'],
  ['backslashes', '\\'],
  ['quotes', "'/"],
])('an error with 1 MB of %s does not block other requests', async (_what, piece) => {
  const text = `${piece.repeat(2 ** 20 / piece.length)} \\ud800`;
  const { body } = await server.post('/runs/wait', { assistant_id: 'echoes', input: { text } });
  expect(body.__error__).toMatchObject({ error: 'RangeError', message: expect.stringContaining('… (cut') });
});
