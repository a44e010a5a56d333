import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

/** Fields that no request has, but that queries of the storage know, or columns of its tables. */
const http = await openApp({ graphs: ['echo'] });
afterAll(() => http[Symbol.asyncDispose]());

async function threadWithRun(): Promise<{ thread_id: string; run_id: string }> {
  const thread_id = await http.thread();
  const run = { assistant_id: 'echo', input: { x: 1 } };
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, run);
  return { thread_id, run_id: String(headers['content-location']).split('/').at(-1) as string };
}

test('the runs of a thread are those of the path, whatever thread the query names', async () => {
  const [a, b] = [await threadWithRun(), await threadWithRun()];
  const { body } = await http.get(`/threads/${a.thread_id}/runs?thread_id=${b.thread_id}`);
  expect(body.map(({ run_id }: { run_id: string }) => run_id)).toEqual([a.run_id]);
});

test('unknown fields of a count of threads do not restrict it', async () => {
  const { thread_id } = await threadWithRun();
  const { body: all } = await http.post('/threads/count', {});
  expect(all).toBeGreaterThan(0);
  for (const fields of [{ ids: 'abc' }, { ids: [] }, { ids: [thread_id] }, { after: {}, parts: ['x'] }]) {
    const { status, body } = await http.post('/threads/count', fields);
    expect([fields, status, body]).toEqual([fields, 200, all]);
  }
});

test('unknown fields of a count of crons do not restrict it', async () => {
  await http.post('/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *' });
  expect((await http.post('/runs/crons/count', {})).body).toBe(1);
  for (const fields of [{ enabled: null }, { ids: [] }]) {
    const { status, body } = await http.post('/runs/crons/count', fields);
    expect([fields, status, body]).toEqual([fields, 200, 1]);
  }
});

test('unknown fields of a search of store items do not restrict it', async () => {
  await http.send('PUT', '/store/items', { namespace: ['a'], key: 'k', value: { x: 1 } });
  const { status, body } = await http.post('/store/items/search', { namespace_prefix: ['a'], item_ids: [] });
  expect([status, body.items]).toEqual([200, [expect.objectContaining({ key: 'k', value: { x: 1 } })]]);
});
