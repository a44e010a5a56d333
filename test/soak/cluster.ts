import pg from 'pg';
import { type BenchServer, benchServer } from '../bench/bench-server.ts';
import { POSTGRES_BINARIES, startPostgres } from '../support/postgres-server.ts';

/** Two processes that answer requests and one that executes runs, on a PostgreSQL of their own. */
export interface SoakCluster extends AsyncDisposable {
  readonly apis: readonly [BenchServer, BenchServer];
  /** For statistics; belongs to no process. */
  readonly statistics: pg.Pool;
}

export async function startSoakCluster(): Promise<SoakCluster> {
  if (!POSTGRES_BINARIES) throw new Error('no PostgreSQL is installed (initdb, pg_ctl)');
  await using opened = new AsyncDisposableStack();
  const database = opened.use(
    await startPostgres({ shared_preload_libraries: 'pg_stat_statements', track_activity_query_size: '256' }),
  );
  const statistics = new pg.Pool({ connectionString: database.url, application_name: 'soak' });
  opened.defer(() => statistics.end());
  await statistics.query('create extension pg_stat_statements');
  const start = async (AGENT_SERVER_ROLE: string) =>
    opened.use(await benchServer({ concurrency: 20, database: database.url, env: { AGENT_SERVER_ROLE } }));
  const apis = [await start('api'), await start('api')] as const;
  await start('worker');
  const all = opened.move();
  return { apis, statistics, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A client or a pool. */
interface Queries {
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** The single row of a query. */
export async function rowOf(client: Queries, query: string): Promise<Record<string, number>> {
  const { rows } = await client.query(query);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)]));
}
