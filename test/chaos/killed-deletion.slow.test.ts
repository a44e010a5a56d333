import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { openTarget } from '../../src/extensions/operations/copy/databases.ts';
import { httpClient } from '../support/http-client.ts';
import { agentServer } from '../support/program.ts';
import { createThread } from '../support/remote-runs.ts';
import { startServer } from '../support/server.ts';
import { describeEachPlace } from '../support/storage-places.ts';
import { until } from '../support/until.ts';

const CONFIG = join(import.meta.dirname, 'agent.config.yaml');
/** Checkpoints, and as many writes and values: sixty batches. */
const LENGTH = 20_000;

const STEPS = `with recursive steps (n) as (select 1 union all select n + 1 from steps where n < ${LENGTH})`;

async function addHistory(db: Db, thread_id: string): Promise<void> {
  const rows = {
    'checkpoints (thread_id, ns, checkpoint_id, checkpoint, versions, metadata)':
      "cast(n as text), '{}', '{}', '{}'",
    'checkpoint_writes (thread_id, ns, checkpoint_id, task_id, idx, channel, type, value)':
      "cast(n as text), 't', 0, 'c', 'json', cast('1' as {bytes})",
    'checkpoint_blobs (thread_id, ns, channel, version, appends, type, value)':
      "'c', cast(n as text), 0, 'json', cast('1' as {bytes})",
  };
  const bytes = db.dialect === 'sqlite' ? 'blob' : 'bytea';
  for (const [table, values] of Object.entries(rows)) {
    const columns = values.replaceAll('{bytes}', bytes);
    await db.run(raw(`insert into ${table} ${STEPS} select '${thread_id}', '', ${columns} from steps`));
  }
}

/** Rows of the history that are left, also while a server has the database. */
async function left(url: string, thread_id: string): Promise<number> {
  const tables = ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs'];
  const counts = tables.map((table) => `(select count(*) from ${table} where thread_id = '${thread_id}')`);
  const query = `select ${counts.join(' + ')} + (select count(*) from thread_deletions) as n`;
  if (!url.startsWith('sqlite:')) {
    await using db = await openTarget(url);
    const row = await db.get(sql`select (${raw(query)}) as ${number('n')}`);
    return Number(row?.n);
  }
  const database = new Database(url.slice('sqlite:'.length), { readonly: true });
  const { n } = database.prepare<[], { n: number }>(query).get() ?? { n: Number.NaN };
  database.close();
  return n;
}

/** What is wrong but for dead rows, which autovacuum has not come to yet. */
async function findings(url: string): Promise<unknown[]> {
  const args = ['doctor', '--json', '--config', CONFIG];
  const { stdout } = await agentServer(args, { env: { DATABASE_URI: url } });
  return JSON.parse(stdout).findings.filter(({ check }: { check: string }) => check !== 'bloat');
}

describeEachPlace('a server that is killed while it deletes a long history', (place) => {
  test('resumes the deletion after its restart and leaves no rows', async () => {
    const url = await place();
    await using server = await startServer({ config: CONFIG, env: { DATABASE_URI: url } });
    using http = httpClient(server.url);
    const thread_id = await createThread(http);
    expect(await server.kill('SIGTERM')).toBe(0);
    {
      await using db = await openTarget(url);
      await addHistory(db, thread_id);
    }

    await server.restart();
    const deleted = http.send('DELETE', `/threads/${thread_id}`).catch(() => undefined);
    // Values go last.
    await until('its checkpoints are gone', async () => (await left(url, thread_id)) <= 2 * LENGTH);
    await server.kill('SIGKILL');
    await deleted;
    expect(await left(url, thread_id)).toBeGreaterThan(1);
    expect(await findings(url)).toEqual([]);

    await server.restart();
    expect(await http.send('GET', `/threads/${thread_id}`)).toMatchObject({ status: 404 });
    await until('its history is gone', async () => (await left(url, thread_id)) === 0);
    expect(await http.send('POST', '/threads', { body: { thread_id } })).toMatchObject({ status: 200 });
    expect(await server.kill('SIGTERM')).toBe(0);
    expect(await findings(url)).toEqual([]);
  });
});
