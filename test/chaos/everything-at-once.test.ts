import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/core/errors.ts';
import { columns, number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { POSTGRES_BINARIES, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';
import type { RemoteRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { anyOf } from './clients.ts';
import { InsistentClients } from './insistent-clients.ts';
import { startChaosServer } from './server.ts';
import { IS_FULL, sized } from './size.ts';
import { spread } from './spread.ts';
import { TEN_STEPS } from './ten-steps.ts';
import { violations } from './violations.ts';
import { LEASE_SECONDS, startFleet, urlOf, type WorkerFleet } from './worker-fleet.ts';

const RUNS = sized(40, 400);
const THREADS = sized(10, 60);
const WORKERS = sized(2, 4);
const STEP_MS = sized(30, 100);

/** What happens, one after the other as runs come to their end. */
type Trouble = 'kill' | 'terminate' | 'freeze' | 'cutOff' | 'restart database' | 'promote replica';
const TROUBLES: readonly Trouble[] = sized(['kill', 'freeze', 'cutOff', 'terminate', 'restart database'], [
  ...['kill', 'freeze', 'kill', 'terminate', 'cutOff', 'kill', 'restart database', 'kill', 'freeze'],
  ...['terminate', 'kill', 'cutOff', 'promote replica', 'kill', 'freeze', 'terminate', 'kill', 'cutOff'],
  ...['kill', 'restart database', 'freeze', 'terminate', 'kill'],
] as Trouble[]);

const env = {
  ...TO_RECEIVER,
  AGENT_SERVER_LEASE_SECONDS: String(LEASE_SECONDS),
  AGENT_SERVER_DATABASE_MAX_CONNECTIONS: '12',
  N_JOBS_PER_WORKER: '12',
  BG_JOB_MAX_RETRIES: '50',
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '2',
};

describe.runIf(POSTGRES_BINARIES)('everything at once', () => {
  test('every run ends in success once, with one webhook, in the order of its thread', {
    timeout: sized(300_000, 900_000),
  }, async () => {
    // A replica that takes over must have what was acknowledged.
    const settings = { max_connections: '200', ...(IS_FULL && { synchronous_standby_names: "'*'" }) };
    await using primary = await startPostgres(settings);
    await using servers = new AsyncDisposableStack();
    const replica =
      IS_FULL && servers.use(await startPostgres({ max_connections: '200' }, { replica_of: primary }));
    const databases = replica ? [primary, replica] : [primary];
    const DATABASE_URI = urlOf(databases.map(({ url }) => url));
    await using hook = await receiver();
    const startApi = () => startChaosServer({ ...env, DATABASE_URI, AGENT_SERVER_ROLE: 'api' });
    const [one, two] = await Promise.all([startApi(), startApi()]);
    servers.use(one);
    servers.use(two);
    await using either = await spread(one.process.url, two.process.url);
    await using fleet = await startFleet(databases, WORKERS, env);

    const http = anyOf(() => [one.http, two.http]);
    const clients = await InsistentClients.on(either.url, http, THREADS);
    const body = {
      ...TEN_STEPS,
      config: { configurable: { step_ms: STEP_MS } },
      webhook: `${hook.url}/hook`,
    };
    const creating = clients.create(RUNS, body);
    await using db = openPostgres(DATABASE_URI, { max_connections: 2 });
    await makeTrouble(fleet, databases, db);
    await creating;
    await untilEnded(db, RUNS);
    await fleet.recovered();

    await clients.expectWholeStreams();
    await clients.expectWholeStates();
    expect(await violations(db)).toEqual({});
    expect(await besideAnother(db)).toEqual([]);
    expect(await beforeTheirTurn(db, clients)).toEqual([]);
    expect(await staleCheckpoints(db)).toEqual([]);
    await expectOneWebhook(
      hook,
      clients.runs.map(({ run_id }) => run_id),
    );
  });
});

async function makeTrouble(
  fleet: WorkerFleet,
  [primary, replica = primary]: readonly PostgresServer[],
  db: Db,
): Promise<void> {
  let current = primary as PostgresServer;
  for (const [index, trouble] of TROUBLES.entries()) {
    await untilEnded(db, Math.floor((RUNS * index) / TROUBLES.length));
    if (trouble === 'restart database') await current.crash();
    else if (trouble === 'promote replica') {
      await current.stop();
      current = replica as PostgresServer;
      await current.promote();
    } else fleet[trouble](index);
  }
}

/** Also while the database comes back. */
async function untilEnded(db: Db, runs: number): Promise<void> {
  const query = sql`select count(*) as ${number('n')} from runs where ended_at is not null`;
  const hasCome = async () => {
    try {
      return Number((await db.get(query))?.n) >= runs;
    } catch (error) {
      if (error instanceof Unavailable) return false;
      throw error;
    }
  };
  await until(`${runs} runs have ended`, hasCome, 180_000);
}

/** Runs of a thread that were executed beside another one of it. */
function besideAnother(db: Db): Promise<unknown[]> {
  return db.all(
    raw(`select thread_id, run_id from (
      select thread_id, run_id, started_at, max(ended_at) over (
        partition by thread_id order by started_at rows between unbounded preceding and 1 preceding) as earlier
      from runs) r where started_at < earlier limit 3`),
  );
}

/** Runs that were asked for when an earlier one of their thread was acknowledged, and began before it. */
async function beforeTheirTurn(db: Db, { runs, times }: InsistentClients): Promise<string[]> {
  const rows = await db.all(sql`select ${columns('runs', 'run_id')} from runs order by started_at`);
  const began = new Map(rows.map(({ run_id }, place) => [run_id, place]));
  const isBefore = (one: RemoteRun, other: RemoteRun) =>
    (times.get(one.run_id)?.acknowledged ?? 0) < (times.get(other.run_id)?.asked ?? 0) &&
    (began.get(one.run_id) ?? 0) > (began.get(other.run_id) ?? 0);
  const early = runs.filter((run) =>
    runs.some((other) => other.thread_id === run.thread_id && isBefore(other, run)),
  );
  return early.map(({ run_id }) => run_id);
}

/** Checkpoints that go on from the same one: two attempts have written beside each other. */
function staleCheckpoints(db: Db): Promise<unknown[]> {
  return db.all(
    raw(`select thread_id, parent_id from checkpoints where parent_id is not null
      group by thread_id, ns, parent_id having count(*) > 1 limit 3`),
  );
}

/** At least one for each run, and all for a run under the same id. */
async function expectOneWebhook(hook: Receiver, run_ids: readonly string[]): Promise<void> {
  const idsOf = () => {
    const byRun = Map.groupBy(hook.received, ({ body }) => String(body['run_id']));
    return new Map(
      [...byRun].map(([id, all]) => [id, new Set(all.map(({ headers }) => headers['webhook-id']))]),
    );
  };
  await until('each run has told of its end', () => idsOf().size >= run_ids.length);
  expect([...idsOf().keys()].toSorted()).toEqual(run_ids.toSorted());
  for (const [run_id, ids] of idsOf()) expect(ids.size, run_id).toBe(1);
}
