import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

type App = Awaited<ReturnType<typeof openApp>>;
let app: App;
beforeAll(async () => {
  app = await openApp({ graphs: ['echo', 'interrupting'] });
});
afterAll(() => app[Symbol.asyncDispose]());

/** What the server shows or showed in `configurable` for runs of its own making. */
const FORGED = {
  __event_streaming_v2: true,
  cron_id: randomUUID(),
  protocol: { name: 'a2a', version: '1.0' },
};

/** The log of a resumable run, by the names under which it is stored. */
async function logged(thread_id: string, run_id: string): Promise<string> {
  await app.get(`/threads/${thread_id}/runs/${run_id}/join`);
  return (await app.get(`/threads/${thread_id}/runs/${run_id}/stream`, { 'last-event-id': '-1' })).text;
}

test.each(['config', 'context'])(
  'server markers that a client writes into its %s have no effect',
  async (where) => {
    const { thread_id } = (await app.post('/threads', {})).body;
    const asked = { assistant_id: 'echo', input: { x: 1 }, stream_resumable: true };
    const plain = (await app.post(`/threads/${thread_id}/runs`, asked)).body;
    const expected = await logged(thread_id, plain.run_id);

    const forged = where === 'config' ? { config: { configurable: FORGED } } : { context: FORGED };
    const { status, body } = await app.post(`/threads/${thread_id}/runs`, { ...asked, ...forged });

    expect(status).toBe(200);
    expect(body.kwargs.config.configurable).toMatchObject(FORGED);
    expect(eventNames(await logged(thread_id, body.run_id))).toEqual(eventNames(expected));
    expect(eventNames(expected)).toContain('values');
  },
);

test('a client cannot request the internal retention `keep_interrupted`', async () => {
  const asked = { assistant_id: 'interrupting', input: { x: 1 }, on_completion: 'keep_interrupted' };
  expect((await app.post('/runs/wait', asked)).status).toBe(422);
});

test('a marker of retention in the config of a stateless run keeps no thread', async () => {
  const forged = { thread_retention: 'keep', on_completion: 'keep', temporary: false };
  const asked = { assistant_id: 'interrupting', input: { x: 1 }, kwargs: forged, thread_retention: 'keep' };
  const { body } = await app.post('/runs', { ...asked, config: { configurable: forged, ...forged } });
  expect(body.kwargs).toMatchObject({ temporary: true, on_completion: 'delete' });
  await until('the thread is gone', async () => (await app.get(`/threads/${body.thread_id}`)).status === 404);
});

test('a run of event streaming is marked in configurable, and returned without internal columns', async () => {
  const thread_id = randomUUID();
  const params = { assistant_id: 'echo', input: { x: 1 } };
  const { result } = (
    await app.post(`/threads/${thread_id}/commands`, { id: 1, method: 'run.start', params })
  ).body;
  const run = (await app.get(`/threads/${thread_id}/runs/${result.run_id}`)).body;
  expect(run.kwargs.config.configurable).toMatchObject({ __event_streaming_v2: true });
  expect(Object.keys(run).sort()).toEqual([
    'assistant_id',
    'created_at',
    'kwargs',
    'langsmith_session_name',
    'metadata',
    'multitask_strategy',
    'run_id',
    'status',
    'thread_id',
    'updated_at',
  ]);
});

function eventNames(text: string): string[] {
  return [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => (name as string).trim());
}
