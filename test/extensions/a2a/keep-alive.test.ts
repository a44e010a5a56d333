import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { A2A_FOLDER as folder, message } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let agent: string;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['sleeper'] });
  agent = `${(await server.app.listen()).url}/a2a/sleeper`;
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => server[Symbol.asyncDispose]());

async function working(): Promise<number> {
  return (await server.get('/a2a/sleeper/tasks?status=TASK_STATE_WORKING')).body.totalSize;
}

test.each([
  ['message:stream', ': heartbeat\r\n\r\n'],
  ['message:send', '\n'],
])('an A2A client that waits for %s receives a keep-alive within five seconds', async (verb, sign) => {
  const before = await working();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const headers = { 'content-type': 'application/json' };
  const call = request(`${agent}/${verb}`, { method: 'POST', headers });
  let heard = '';
  call.on('response', (answer: IncomingMessage) => answer.on('data', (data) => (heard += data)));
  call.end(JSON.stringify({ message: message({ ms: 60_000 }) }));
  await until('it works', async () => (await working()) > before);
  heard = '';
  vi.advanceTimersByTime(4_000);
  await until('a sign of life came', () => heard.includes(sign));
  expect(call.destroyed).toBe(false);
  call.destroy();
  await once(call, 'close');
});
