import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '../../src/storage/engines/sqlite.ts';
import { sql } from '../../src/storage/sql.ts';
import { openApp } from '../support/app.ts';
import { TEST_KEY } from '../support/encryption.ts';

const root = await mkdtemp(join(tmpdir(), 'agent-server-unreadable-'));
afterAll(() => rm(root, { recursive: true }));

test('a value that was exchanged in the database is a 500 that tells nothing, and a line in the log', async () => {
  const file = join(root, 'server.db');
  const environment = { LANGGRAPH_AES_KEY: TEST_KEY, DATABASE_URI: `sqlite:${file}` };
  await using server = await openApp({ graphs: ['echo'], environment });
  const [one, other] = [await server.thread(), await server.thread()];
  await server.post(`/threads/${one}/runs/wait`, { assistant_id: 'echo', input: { x: 1 } });
  await server.post(`/threads/${other}/runs/wait`, { assistant_id: 'echo', input: { x: 2 } });
  const db = openSqlite(file, { synchronous: 'normal', beside_a_server: true });
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
