import { Client, type Config } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyMethod } from '../support/every-method.ts';
import { httpClient } from '../support/http-client.ts';
import { printedBy, python } from '../support/python.ts';
import { SDKS } from '../support/sdks.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test.each(SDKS)('JavaScript SDK %s: every method of crons', async (sdk, Sdk) => {
  const client = new Sdk({ apiUrl: server.url });
  const { part: crons, uncalled } = everyMethod(client.crons);
  const metadata = { sdk };
  const config: Config = { tags: ['t'], configurable: { k: 'v' } };

  const stateless = await crons.create('echo', {
    schedule: '0 0 1 1 *',
    input: { x: 1 },
    metadata,
    config,
    onRunCompleted: 'keep',
    multitaskStrategy: 'enqueue',
  });
  expect(stateless).toMatchObject({ schedule: '0 0 1 1 *', metadata, thread_id: null, enabled: true });
  const { thread_id } = await client.threads.create();
  const onThread = await crons.createForThread(thread_id, 'echo', {
    schedule: '@daily',
    metadata,
    enabled: false,
  });
  expect(onThread).toMatchObject({ thread_id, enabled: false });
  await expect(crons.create('echo', { schedule: 'bad' })).rejects.toThrow('Invalid cron schedule');

  const updated = await crons.update(String(stateless['cron_id']), {
    schedule: '0 0 2 1 *',
    enabled: false,
    metadata: { changed: true },
    onRunCompleted: 'delete',
  });
  expect(updated).toMatchObject({ schedule: '0 0 2 1 *', enabled: false, metadata: { sdk, changed: true } });

  expect(await crons.count({ metadata })).toBe(2);
  expect(await crons.count({ metadata, threadId: thread_id })).toBe(1);
  const found = await crons.search({ metadata, threadId: thread_id, sortBy: 'created_at', sortOrder: 'asc' });
  expect(found.map(({ cron_id }) => cron_id)).toEqual([onThread['cron_id']]);

  for (const { cron_id } of await crons.search({ metadata, limit: 10 })) await crons.delete(cron_id);
  expect(await crons.search({ metadata })).toEqual([]);
  expect(uncalled()).toEqual([]);
});

test.runIf(python)('Python SDK: every method of crons', async () => {
  expect(await printedBy('python_crons.py', server.url)).toEqual({
    made: ['0 0 1 1 *', 'Europe/Berlin', '2099-01-01T00:00:00', true, 'keep'],
    bad: 422,
    on_thread: [true, false],
    changed: ['@weekly', false, { py: true, changed: true }, null],
    count: [2, 1],
    found: [false],
    gone: [0, 404],
    uncalled: [],
  });
});

test('a triggered run of a cron executes, and its outcome is kept after its thread is deleted', async () => {
  using http = httpClient(server.url);
  const client = new Client({ apiUrl: server.url });
  const { cron_id } = await client.crons.create('echo', { schedule: '0 0 1 1 *', input: { x: 1 } });
  const fails = await client.crons.create('fails', { schedule: '0 0 1 1 *', input: {} });
  type Fire = { run_id: string; thread_id: string; status: string };
  const fires = (of: unknown) => http.call<Fire[]>('GET', `/runs/crons/${of}/runs`);

  await http.call('POST', `/runs/crons/${cron_id}/trigger`);
  await http.call('POST', `/runs/crons/${fails['cron_id']}/trigger`);
  await until('both runs have ended', async () => {
    const ended = [...(await fires(cron_id)), ...(await fires(fails['cron_id']))];
    return ended.every(({ status }) => status === 'success' || status === 'error');
  });
  expect(await fires(cron_id)).toMatchObject([{ tick: null, status: 'success' }]);
  expect(await fires(fails['cron_id'])).toMatchObject([{ status: 'error' }]);
  const [{ thread_id } = { thread_id: '' }] = await fires(cron_id);
  await expect(client.threads.get(thread_id)).rejects.toThrow('404');
});
