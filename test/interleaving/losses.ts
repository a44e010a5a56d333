import type { Db } from '../../src/db/db.ts';
import { list, raw, type SqlValue, sql } from '../../src/db/sql.ts';

/** In an order in which rows may come back: what others refer to goes first. */
export const TABLES = [
  'threads',
  'thread_values',
  'runs',
  'run_queue',
  'thread_log',
  'run_events',
  'run_event_expiry',
  'removed_run_logs',
  'removed_runs',
  'checkpoints',
  'checkpoint_blobs',
  'checkpoint_writes',
  'workers',
  'crons',
  'cron_fires',
  'webhook_outbox',
];

type Row = Record<string, SqlValue>;

export async function emptyAll(db: Db): Promise<void> {
  await db.transaction('async', async (tx) => {
    for (const table of TABLES.toReversed()) await tx.run(raw(`delete from ${table}`));
  });
}

/**
 * What a database may lose when it crashes: relaxed commits since the last promised one, which took all before it to the
 * disk. The simulation puts back what was there before the first of them.
 */
export class Losses {
  readonly #db: Db;
  #saved: Map<string, Row[]> | undefined;
  /** Saving costs time, which is spent only where the database is going to crash. */
  isExpected = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Before a relaxed commit. */
  async save(): Promise<void> {
    if (!this.isExpected || this.#saved) return;
    const saved = new Map<string, Row[]>();
    for (const table of TABLES)
      saved.set(table, (await this.#db.all(raw(`select * from ${table}`))) as Row[]);
    this.#saved = saved;
  }

  /** After a promised commit. */
  forget(): void {
    this.#saved = undefined;
  }

  /** False when there was nothing to lose. */
  async restore(): Promise<boolean> {
    const saved = this.#saved;
    if (!saved) return false;
    this.#saved = undefined;
    await emptyAll(this.#db);
    await this.#db.transaction('async', async (tx) => {
      for (const [table, rows] of saved) {
        for (const row of rows) {
          const columns = raw(Object.keys(row).join(', '));
          await tx.run(sql`insert into ${raw(table)} (${columns}) values ${list(Object.values(row))}`);
        }
      }
    });
    return true;
  }
}
