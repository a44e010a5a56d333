import { describe, expect, test } from 'vitest';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { PostgresRelay } from '../support/postgres-relay.ts';
import { attemptsOf, getRun, joinRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { startPair } from './on-postgres.ts';
import { startChaosServer } from './server.ts';
import { besideEachOther, expectWitnessed, SHORT_LEASE, witnessedRun } from './witnessed-run.ts';

describe.runIf(TEST_POSTGRES_URI)('leases of two processes on one PostgreSQL', () => {
  test('a node that blocks its event loop for longer than a lease executes once', async () => {
    await using pair = await startPair({ AGENT_SERVER_LEASE_SECONDS: '5' });
    const ms = 15_000;
    const run = await startRun(pair.one.http, {
      assistant_id: 'blocks',
      input: { ms },
      stream_resumable: true,
    });
    const { two } = pair;
    await until('it has ended', async () => (await getRun(two.http, run)).status === 'success');
    expect(await joinRun(two.http, run)).toMatchObject({ blocked: 1 });
    expect(await attemptsOf(two.http, run)).toEqual([1]);
  });

  test('a process that cannot reach its database stops its runs before another process claims them', async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    await using relay = await PostgresRelay.listen(schema.url);
    await using cutOff = await startChaosServer({ ...SHORT_LEASE, DATABASE_URI: relay.url });
    const { run, seen } = await witnessedRun(cutOff, 2, 8000);
    await until('the first step is under way', () => seen().length === 1);
    const stopped = cutOff.process.untilLog(
      'the lease of this process is expiring: its runs stop, and continue in another process',
    );

    relay.silence();
    // Only now: on a busy machine a start takes longer than the step.
    await using other = await startChaosServer({ ...SHORT_LEASE, DATABASE_URI: schema.url });
    await stopped;
    await expectWitnessed(other.http, run, 2);
    const pids = seen().map(({ pid }) => pid);
    expect(new Set(pids)).toEqual(new Set([cutOff.process.pid, other.process.pid]));
    expect(besideEachOther(seen())).toEqual([]);
    expect(seen()[1]).toMatchObject({ pid: cutOff.process.pid, what: 'is stopped' });

    relay.mend();
    const { run: next } = await witnessedRun(cutOff, 1, 10);
    await expectWitnessed(cutOff.http, next, 1);
  });

  test('a process that was frozen beyond its lease writes nothing more for its runs', async () => {
    await using pair = await startPair(SHORT_LEASE, { N_JOBS_PER_WORKER: '0' });
    const { one: frozen, two } = pair;
    const { run, seen } = await witnessedRun(two, 6, 1000);
    await until('two steps have ended', () => seen().filter(({ what }) => what === 'ends').length >= 2);
    process.kill(frozen.process.pid, 'SIGSTOP');
    await using third = await startChaosServer({ ...SHORT_LEASE, DATABASE_URI: pair.url });
    const isElsewhere = () => seen().some(({ pid }) => pid === third.process.pid);
    await until('another process has taken the run', isElsewhere);
    process.kill(frozen.process.pid, 'SIGCONT');
    await expectWitnessed(two.http, run, 6);
    // A slow machine hands it over once more, which is not charged.
    expect((await attemptsOf(two.http, run)).at(-1)).toBe(2);
    const ends = seen().filter(({ what, pid }) => what === 'ends' && pid === frozen.process.pid);
    expect(ends.length).toBeLessThan(6);
  });

  test('SIGTERM hands runs over at their next checkpoint, and charges no attempt', async () => {
    await using pair = await startPair();
    const { run, seen } = await witnessedRun(pair.one, 8, 1000);
    await until('it is under way', () => seen().length > 0);
    const isOne = seen()[0]?.pid === pair.one.process.pid;
    const [leaving, other] = isOne ? [pair.one, pair.two] : [pair.two, pair.one];
    expect(await leaving.process.kill('SIGTERM')).toBe(0);
    const ends = seen().filter(({ what, pid }) => what === 'ends' && pid === leaving.process.pid);
    expect(ends.length).toBeLessThan(8);
    await expectWitnessed(other.http, run, 8);
    expect(new Set(await attemptsOf(other.http, run))).toEqual(new Set([1]));
    expect(seen().at(-1)?.pid).toBe(other.process.pid);
    expect(besideEachOther(seen())).toEqual([]);
  });
});
