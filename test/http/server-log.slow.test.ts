import { expect, test } from 'vitest';
import { startServer } from '../support/server.ts';
import { followServerLog } from '../support/server-log-stream.ts';

const KEY = 'an-operator';
const headers = { 'x-api-key': KEY };
const one_process = 'the log is that of the process that answers';

test('following the log of a server adds only a line about the disconnect to it', async () => {
  await using server = await startServer({ api_keys: [KEY], one_process });
  const ask = () => server.client.threads.create();
  const messagesOf = (lines: readonly { message: string }[]) => lines.map(({ message }) => message);
  const asked = 'POST /threads 200';
  let last: number | undefined;
  {
    using tail = await followServerLog(server.url, { headers });
    await tail.until('ready');
    await ask();
    const [first, ...others] = await tail.until(asked);
    expect([first?.message, others]).toEqual([asked, []]);
    await ask();
    const [second, ...more] = await tail.until(asked);
    expect([second?.message, more]).toEqual([asked, []]);
    last = second?.seq;
  }
  const left = 'GET /system/server-logs client disconnected';
  using tail = await followServerLog(server.url, { headers, last: last ?? 0 });
  expect(messagesOf(await tail.until(left))).toEqual([left]);
  await ask();
  expect(messagesOf(await tail.until(asked))).toEqual([asked]);
  expect(JSON.stringify(server.log)).not.toContain(KEY);
});

test('after a kill -9 the log of the next process is followed from its beginning', async () => {
  await using server = await startServer({ one_process });
  using before = await followServerLog(server.url);
  const lines = await before.until('ready');
  expect(lines.at(-1)?.pid).toBe(server.pid);
  await server.restart();
  using after = await followServerLog(server.url, { last: lines.at(-1)?.seq ?? 0 });
  expect(after.ready).toMatchObject({ pid: server.pid, is_resumed: false });
  const next = await after.until('ready');
  expect(new Set(next.map(({ pid }) => pid))).toEqual(new Set([server.pid]));
  expect(next.map(({ seq }) => seq)).toEqual(next.map((_, n) => (next[0]?.seq ?? 0) + n));
});
