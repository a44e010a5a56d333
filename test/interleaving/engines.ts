import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type DialectName, raw, sql } from '../../src/db/sql.ts';
import { TABLES } from './losses.ts';
import type { Lanes } from './scheduler.ts';

/** A database that many interleavings use, one after the other. */
export interface Engine extends Lanes, AsyncDisposable {
  /** Looks at the database from outside, beside all processes. */
  readonly monitor: Db;
}

/** So many of one kind. Throws when no PostgreSQL is known. */
export function openEngines(dialect: DialectName, count: number): Promise<Engine[]> {
  const uri = process.env['TEST_POSTGRES_URI'];
  if (dialect === 'postgres' && !uri) throw new Error('TEST_POSTGRES_URI says which PostgreSQL to use.');
  const open = () => (dialect === 'sqlite' ? sqliteEngine() : postgresEngine(uri as string));
  return Promise.all(Array.from({ length: count }, open));
}

async function sqliteEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'interleaving-'));
  // Nobody cuts the power: what a crash takes is simulated.
  const db = openSqlite(join(folder, 'server.db'), { synchronous: 'normal' });
  await migrate(db);
  return {
    lanes: [db],
    monitor: db,
    blocked: async () => new Set(),
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const CONNECTIONS = 5;

/** A schema of its own on a real server, and as many connections as there are lanes. */
async function postgresEngine(uri: string): Promise<Engine> {
  const id = randomUUID().replaceAll('-', '').slice(0, 12);
  const schema = `interleaving_${id}`;
  await withServer(uri, `create schema ${schema}`);
  const open = (name: string) => openPostgres(urlOf(uri, schema, name), { max_connections: 1 });
  const monitor = open(`${id} monitor`);
  await migrate(monitor);
  await prepare(monitor);
  const names = Array.from({ length: CONNECTIONS }, (_, lane) => `${id} ${lane}`);
  const lanes = names.map(open);
  return {
    lanes,
    monitor,
    async blocked() {
      const rows = await monitor.all(
        sql`select ${text('application_name')} from pg_stat_activity
          where application_name like ${`${id} %`} and cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return new Set(rows.map(({ application_name }) => names.indexOf(application_name)));
    },
    async [Symbol.asyncDispose]() {
      for (const db of [...lanes, monitor]) await db[Symbol.asyncDispose]();
      await withServer(uri, `drop schema ${schema} cascade`);
    },
  };
}

function urlOf(uri: string, schema: string, name: string): string {
  const url = new URL(uri);
  url.searchParams.set('application_name', name);
  // Should there be a deadlock after all, it is found at once.
  url.searchParams.set('options', `-c search_path=${schema} -c deadlock_timeout=20ms ${HARD_PLANS}`);
  return url.href;
}

/** Nested loops alone, whose inner side is executed again for each row: what must be a limit is one here too. */
const HARD_PLANS = ['hashjoin', 'mergejoin', 'hashagg', 'material']
  .map((node) => `-c enable_${node}=off`)
  .join(' ');

/** Statistics as those of a server that was idle when they were made, and the same plans in each replay. */
async function prepare(db: Db): Promise<void> {
  for (const table of TABLES) await db.run(raw(`alter table ${table} set (autovacuum_enabled = false)`));
  await db.run(sql`insert into run_queue (run_id, thread_id, state, not_before)
    values (${randomUUID()}, ${randomUUID()}, 'ready', now())`);
  await db.run(raw('analyze run_queue'));
  await db.run(raw('delete from run_queue'));
}

async function withServer(uri: string, statement: string): Promise<void> {
  await using server = openPostgres(uri);
  await server.run(raw(statement));
}
