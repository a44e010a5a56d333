import { expect, test } from 'vitest';
import { lineLogger } from '../../src/cli/output.ts';
import { secretMask } from '../../src/core/mask-secrets.ts';
import { RecentLog } from '../../src/core/recent-log.ts';
import { serverLogService } from '../../src/services/server-log.ts';
import { openApp } from '../support/app.ts';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';
import { followServerLog } from '../support/server-log-stream.ts';

const SECRET = 'correct-horse-battery';
const PROCESS = { host: 'here', pid: process.pid };
const ANYBODY = { rules: [] } as never;

/** A server, and a log that a test writes: at `info` and above. */
async function withLog(json = true) {
  const recent_log = new RecentLog();
  const mask = secretMask([SECRET]);
  const written: string[] = [];
  const log = await lineLogger({ level: 'info', json, color: false }, (text) => written.push(text), {
    mask,
    recent_log,
  });
  const serverLog = serverLogService({ recent_log, process: PROCESS });
  const server = await bareServer({ services: { serverLog } });
  const url = await server.listen();
  return { url, log, written, serverLog, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test.each([true, false])('followers of the server log get exactly its lines (JSON: %s)', async (json) => {
  await using server = await withLog(json);
  server.log.info('before', { run_id: 'a', header: `Authorization: Bearer ${SECRET}` });
  using tail = await followServerLog(server.url);
  server.log.debug('not of this level');
  server.log.warn(`the key is ${SECRET}`, { error: new Error('why'), api_key: 'sk-abcdefghijklmnop' });
  server.log.info('last');
  const lines = await tail.until('last');
  expect(lines.map(({ message }) => message)).toEqual(['before', 'the key is ***', 'last']);
  expect(lines[0]).toMatchObject({ level: 'info', pid: process.pid, fields: { run_id: 'a' } });
  expect(lines[1]?.fields['error']).toMatch(/^Error: why\n/);
  expect(tail.ready).toMatchObject({ pid: process.pid, host: lines[0]?.host, is_resumed: false });
  for (const secret of [SECRET, 'sk-abc']) {
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(server.written.join('')).not.toContain(secret);
  }
});

test('followers of the server log can choose a level', async () => {
  await using server = await withLog();
  for (const level of ['info', 'warn', 'error', 'info'] as const) server.log[level](`one ${level}`);
  using tail = await followServerLog(server.url, { query: '?level=warn' });
  server.log.info('too low');
  server.log.error('last');
  const lines = await tail.until('last');
  expect(lines.map(({ message }) => message)).toEqual(['one warn', 'one error', 'last']);
  expect((await fetch(`${server.url}/system/server-logs?level=loud`)).status).toBe(422);
});

test('a follower of the server log that reconnects gets the missed lines, or all lines if its position is unknown', async () => {
  await using server = await withLog();
  server.log.info('one');
  server.log.info('two');
  using first = await followServerLog(server.url);
  const [one] = await first.until('two');
  server.log.info('three');
  using resumed = await followServerLog(server.url, { last: one?.seq ?? 0 });
  expect(resumed.ready['is_resumed']).toBe(true);
  expect((await resumed.until('three')).map(({ message }) => message)).toEqual(['two', 'three']);
  using other = await followServerLog(server.url, { last: 123 });
  expect(other.ready['is_resumed']).toBe(false);
  expect(await other.until('three')).toHaveLength(3);
});

test('a follower of the server log that falls behind gets the number of dropped lines', async () => {
  await using server = await withLog();
  server.log.info('first');
  const stop = new AbortController();
  const frames = await server.serverLog.follow(ANYBODY, { level: 'debug' }, 0, stop.signal);
  const reader = frames[Symbol.asyncIterator]();
  const next = async () => (await reader.next()).value;
  await next();
  expect((await next()).data).toContain('first');
  for (let n = 0; n < 1500; n++) server.log.info(`line ${n}`);
  expect(await next()).toMatchObject({ event: 'missing', data: '{"lines":500}' });
  expect((await next()).data).toContain('line 500');
  stop.abort();
  await reader.return?.();
});

test('an embedded server has no log to follow', async () => {
  await using server = await openApp({ graphs: [], one_process: 'a server that is embedded' });
  expect(await server.get('/system/server-logs')).toMatchObject({
    status: 404,
    body: { detail: naming('program', 'embeds') },
  });
});
