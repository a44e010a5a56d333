import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { sql } from '../../src/db/sql.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import type { HttpClient } from '../support/http-client.ts';
import { PostgresRelay } from '../support/postgres-relay.ts';
import { type ChaosServer, startChaosServer } from './server.ts';

/** Two servers on one PostgreSQL. */
export interface Pair extends AsyncDisposable {
  readonly one: ChaosServer;
  readonly two: ChaosServer;
  /** What they share, for facts that no route tells. */
  readonly db: Db;
  readonly url: string;
}

export async function startPair(
  env: Readonly<Record<string, string>> = {},
  env_of_second: Readonly<Record<string, string>> = {},
): Promise<Pair> {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const onSchema = { ...env, DATABASE_URI: schema.url };
  const db = opened.use(openPostgres(schema.url));
  // The first one makes the tables.
  const one = opened.use(await startChaosServer(onSchema));
  const two = opened.use(await startChaosServer({ ...onSchema, ...env_of_second }));
  const all = opened.move();
  return { one, two, db, url: schema.url, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Two processes that answer requests and two that execute, on one PostgreSQL. */
export interface Four extends AsyncDisposable {
  readonly apis: readonly [ChaosServer, ChaosServer];
  readonly workers: readonly [ChaosServer, ChaosServer];
}

export async function startFour(env: Readonly<Record<string, string>> = {}): Promise<Four> {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const start = async (AGENT_SERVER_ROLE: string): Promise<ChaosServer> =>
    opened.use(await startChaosServer({ ...env, DATABASE_URI: schema.url, AGENT_SERVER_ROLE }));
  const roles = ['api', 'api', 'worker', 'worker'] as const;
  const [one, two, first, second] = await Promise.all(roles.map(start));
  const all = opened.move();
  return {
    apis: [one, two] as Four['apis'],
    workers: [first, second] as Four['workers'],
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** As if the time were over that a worker is believed without a sign of life; for a process that gives none any more. */
export async function endLease(db: Db, pid: number): Promise<void> {
  await db.run(sql`update workers set expires_at = now() - interval '1 second' where pid = ${pid}`);
}

/** How many runs a process executes, as the database has it. */
export async function heldBy(db: Db, pid: number): Promise<number> {
  const row = await db.get(sql`
    select count(*) as ${number('n')} from run_queue join workers using (worker_id) where state = 'running' and pid = ${pid}`);
  return Number(row?.n);
}

/** A server whose line to PostgreSQL can break at any commit. */
export interface Relayed extends AsyncDisposable {
  readonly server: ChaosServer;
  readonly http: HttpClient;
  readonly relay: PostgresRelay;
  /** The address of the same database without the relay, and a pool there. */
  readonly direct_url: string;
  readonly db: Db;
}

export async function startRelayed(env: Readonly<Record<string, string>> = {}): Promise<Relayed> {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const db = opened.use(openPostgres(schema.url));
  const relay = opened.use(await PostgresRelay.listen(schema.url));
  const server = opened.use(await startChaosServer({ ...env, DATABASE_URI: relay.url }));
  const all = opened.move();
  return {
    server,
    http: server.http,
    relay,
    direct_url: schema.url,
    db,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
