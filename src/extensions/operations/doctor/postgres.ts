import { number, text } from '../../../db/columns.ts';
import { raw, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import { counted, type Finding, type QuickCheck, type QuickContext } from './finding.ts';

export const postgresChecks: readonly QuickCheck[] = [invalidIndexes, connections, bloat, longTransactions];

/** Left by a `create index concurrently` that failed: maintained at each write, and never read. */
async function invalidIndexes({ db }: QuickContext): Promise<Finding[]> {
  const rows = await db.all(sql`
    select relname as ${text('name')} from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisvalid and relnamespace = (select oid from pg_namespace where nspname = current_schema())`);
  return rows.map(({ name }) => ({
    check: 'indexes',
    level: 'problem',
    message: `The index ${name} is invalid, so PostgreSQL does not use it: --fix ${isLeftover(name) ? 'drops it' : 'rebuilds it'}.`,
    fix: () => db.run(raw(`${isLeftover(name) ? 'drop' : 'reindex'} index concurrently "${name}"`)),
  }));
}

/** A `reindex concurrently` that failed left it; the index itself is still there. */
function isLeftover(name: string): boolean {
  return /_cc(new|old)\d*$/.test(name);
}

async function connections({ db, max_connections }: QuickContext): Promise<Finding[]> {
  const row = await db.get(sql`
    select current_setting('max_connections')::int as ${number('most')},
      current_setting('superuser_reserved_connections')::int as ${number('reserved')},
      (select count(*) from pg_stat_activity where backend_type = 'client backend'
        and application_name <> 'agent-server') as ${number('others')},
      (select count(*) from workers where expires_at > ${NOW}) as ${number('processes')}`);
  if (!row || row.processes === 0) return [];
  const free = row.most - row.reserved - row.others;
  const wanted = row.processes * max_connections;
  if (wanted <= free) return [];
  return [
    {
      check: 'connections',
      level: 'problem',
      message: `${counted(row.processes, 'process', 'processes')} may open ${wanted} connections, but PostgreSQL has only ${free} for them: raise max_connections (now ${row.most}), or use PgBouncer.`,
    },
  ];
}

/** Autovacuum leaves up to a fifth; small tables do not matter. */
const DEAD_ROWS = 10_000;
const DEAD_SHARE = 0.4;

async function bloat({ db }: QuickContext): Promise<Finding[]> {
  const rows = await db.all(sql`
    select relname as ${text('name')}, n_dead_tup as ${number('dead')}, n_live_tup as ${number('live')}
    from pg_stat_user_tables where schemaname = current_schema()
      and n_dead_tup > ${DEAD_ROWS} and n_dead_tup > ${DEAD_SHARE}::float8 * n_live_tup`);
  return rows.map(({ name, dead, live }) => ({
    check: 'bloat',
    level: 'problem',
    message: `${name} has ${dead} dead rows beside ${live} live ones, so autovacuum does not keep up: --fix runs VACUUM once; if this recurs, look for long transactions.`,
    fix: () => db.run(raw(`vacuum (analyze) "${name}"`)),
  }));
}

const LONG_MINUTES = 10;

/** A transaction that keeps dead rows from being removed, in every table. The bound is a parameter for tests. */
export async function longTransactions(
  { db }: Pick<QuickContext, 'db'>,
  minutes = LONG_MINUTES,
): Promise<Finding[]> {
  const rows = await db.all(sql`
    select pid as ${number('pid')}, application_name as ${text('program')}, state as ${text('state')}
    from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
      and xact_start < now() - ${minutes}::float8 * interval '1 minute' and pid <> pg_backend_pid()`);
  return rows.map(({ pid, program, state }) => ({
    check: 'bloat',
    level: 'problem',
    message: `Connection ${pid} (${program || 'unnamed'}, ${state}) has a transaction open for over ${minutes} minutes, so VACUUM cannot remove dead rows: end it, if necessary with select pg_terminate_backend(${pid}).`,
  }));
}
