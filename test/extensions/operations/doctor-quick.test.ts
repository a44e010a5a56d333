import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { raw } from '../../../src/db/sql.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { quickFindings } from '../../../src/extensions/operations/doctor/quick.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { aQueueRow, aRun, IDS, inMinutes, insert, insertHealthyRows } from '../../support/healthy-rows.ts';

const BREAKAGES = [
  aRun(IDS.other, 'pending'),
  aQueueRow(IDS.other, 'ready', { not_before: inMinutes(-5) }),
  `update crons set next_run_date = '2020-01-01T00:00:00.000Z'`,
  insert('api_keys', {
    key_id: IDS.other,
    name: 'ci',
    digest: 'd',
    scope: 'run',
    created_at: inMinutes(-9),
    expires_at: inMinutes(60),
    last_used_at: inMinutes(-1),
  }),
  'drop index runs_created',
];

/** One executes, and the other waits: there may be a limit for owners. */
const OF_ONE_OWNER = [
  insert('workers', {
    worker_id: IDS.other,
    host: 'h',
    pid: 1,
    version: '1',
    slots: 4,
    graph_ids: '[]',
    started_at: inMinutes(-9),
    expires_at: inMinutes(5),
  }),
  aRun(IDS.assistant, 'running'),
  aQueueRow(IDS.assistant, 'running', { thread_id: IDS.assistant, owner: 'ann' }),
  aRun(IDS.cron, 'pending'),
  aQueueRow(IDS.cron, 'ready', { thread_id: IDS.cron, owner: 'ann', not_before: inMinutes(-5) }),
];

describe.runIf(HAS_POSTGRES)('the warnings of a server', () => {
  let places: DatabasesByUrl;
  beforeAll(async () => {
    places = await databasesByUrl();
  });
  afterAll(() => places[Symbol.asyncDispose]());

  test.each(['sqlite', 'postgres'] as const)(
    'are the quick findings of the doctor, on %s',
    async (engine) => {
      const url = engine === 'sqlite' ? places.sqlite() : await places.postgres();
      const warnings = async () => {
        await using storage = await openStorage({ url, synchronous: 'full' });
        // Those of the engine depend on what else uses the same PostgreSQL.
        return (await quickFindings(storage.database)).filter(
          ({ check }) => check !== 'connections' && check !== 'bloat',
        );
      };
      await withDb(url, insertHealthyRows);
      expect(await warnings()).toEqual([]);
      await withDb(url, async (db) => {
        for (const statement of OF_ONE_OWNER) await db.run(raw(statement));
      });
      expect(await warnings()).toEqual([]);
      await withDb(url, async (db) => {
        for (const statement of BREAKAGES) await db.run(raw(statement));
      });
      expect((await warnings()).map(({ check, level }) => [check, level])).toEqual([
        ['indexes', 'problem'],
        ['runs', 'problem'],
        ['crons', 'problem'],
        ['keys', 'notice'],
      ]);
    },
  );

  async function withDb(url: string, use: (db: Db) => Promise<unknown>): Promise<void> {
    await using db = await openTarget(url);
    await use(db);
  }
});
