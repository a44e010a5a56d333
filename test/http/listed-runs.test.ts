import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const environment = { LANGGRAPH_AUTH: '{"path":"./reads.ts:auth"}' };
const as = (name: string) => ({ authorization: `Bearer ${name}` });

test('the list of runs of a thread is a search, and each of them is read', async () => {
  await using server = await openApp({ graphs: ['echo'], folder, environment });
  const { thread_id } = (await server.post('/threads', {}, as('finder'))).body;
  const at = `/threads/${thread_id}/runs`;
  const { run_id } = (await server.post(at, { assistant_id: 'echo', input: { x: 1 } }, as('finder'))).body;
  const statuses = async (name: string) => {
    const paths = [at, `${at}/${run_id}`, `/threads/${thread_id}`];
    return Promise.all(paths.map(async (path) => (await server.get(path, as(name))).status));
  };
  expect(await statuses('finder')).toEqual([200, 403, 403]);
  expect(await statuses('reader')).toEqual([403, 403, 403]);
});
