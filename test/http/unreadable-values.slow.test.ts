import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { sql } from '../../src/db/sql.ts';
import { openApp } from '../support/app.ts';
import { damageValue } from '../support/damaged-values.ts';
import { TEST_KEY } from '../support/encryption.ts';

const root = await mkdtemp(join(tmpdir(), 'agent-server-unreadable-'));
afterAll(() => rm(root, { recursive: true }));

test('an encrypted value that was swapped in the database is a logged 500 without details', async () => {
  const file = join(root, 'server.db');
  const environment = { LANGGRAPH_AES_KEY: TEST_KEY, DATABASE_URI: `sqlite:${file}` };
  await using server = await openApp({ graphs: ['echo'], environment });
  const [one, other] = [await server.thread(), await server.thread()];
  await server.post(`/threads/${one}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  await server.post(`/threads/${other}/runs/wait`, { assistant_id: 'echo', input: { x: 2 } });
  const db = openSqlite(file, { synchronous: 'normal', shared: true });
  await db.run(sql`update thread_values set value = (select kwargs from runs where thread_id = ${one})
    where thread_id = ${one}`);
  await db[Symbol.asyncDispose]();

  const answer = await server.get(`/threads/${one}`);
  expect([answer.status, answer.body]).toEqual([500, { detail: 'Internal Server Error' }]);
  expect(server.log.filter(({ message }) => message === 'request failed')).toMatchObject([
    { fields: { error: { message: expect.stringMatching(/^thread_values\.value was changed, or moved/) } } },
  ]);
  expect((await server.get(`/threads/${other}`)).body.values).toMatchObject({ x: 2 });
});

test('a damaged value of a state is replaced by a note, and the thread stays usable', async () => {
  const file = join(root, 'states.db');
  await using server = await openApp({
    graphs: ['odd-values'],
    environment: { DATABASE_URI: `sqlite:${file}` },
  });
  const thread_id = await server.thread();
  const run = (body: object) =>
    server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'odd-values', ...body });
  await run({ input: { want: 'text' } });
  const [{ checkpoint_id }] = (await server.post(`/threads/${thread_id}/history`, { limit: 1 })).body;
  const db = openSqlite(file, { synchronous: 'normal', shared: true });
  await damageValue(db, { thread_id, channel: 'out' }, sql`value = ${new Uint8Array()}`);
  await db[Symbol.asyncDispose]();

  const shown = { out: { __unreadable__: 'nothing was stored' }, log: ['text'] };
  const values = async () => (await server.get(`/threads/${thread_id}/state`)).body.values;
  expect(await values()).toMatchObject(shown);
  const history = await server.post(`/threads/${thread_id}/history`, { limit: 10 });
  expect([history.status, history.body[0].values]).toEqual([200, expect.objectContaining(shown)]);
  expect((await run({ input: { want: null } })).body).toMatchObject(shown);
  expect((await server.get(`/threads/${thread_id}`)).body).toMatchObject({ status: 'idle', values: shown });
  expect((await run({ input: { want: null }, checkpoint_id })).body).toMatchObject(shown);

  await server.post(`/threads/${thread_id}/state`, { values: { out: 'by hand' } });
  expect(await values()).toMatchObject({ out: 'by hand', log: ['text'] });
  const copy = (await server.post(`/threads/${thread_id}/copy`)).body.thread_id;
  expect((await server.get(`/threads/${copy}/state`)).body.values).toMatchObject({ out: 'by hand' });
});
