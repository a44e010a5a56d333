import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ServerInfo } from '../../src/schemas/system.ts';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { hostsOf } from '../support/hosts.ts';
import { attemptsOf, getRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { type Pair, startPair } from './on-postgres.ts';
import { startChaosServer } from './server.ts';
import { besideEachOther, expectWitnessed, SHORT_LEASE, witnessedRun } from './witnessed-run.ts';

/** One executes in a graph host, the other only answers requests. */
function startWithHost(): Promise<Pair> {
  return startPair(
    { ...SHORT_LEASE, AGENT_SERVER_HOSTS: '1' },
    { N_JOBS_PER_WORKER: '0', AGENT_SERVER_HOSTS: '0' },
  );
}

/** Its parent is frozen, so that it stays in the table of processes: `Z`. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === true;
  } catch {
    return true;
  }
}

describe.runIf(TEST_POSTGRES_URI && process.platform === 'linux')(
  'graph hosts of a process that is frozen beyond its lease',
  () => {
    test('stop their runs before another process continues them, and the process recovers', async () => {
      await using pair = await startWithHost();
      const { one: frozen, two } = pair;
      const { run, seen } = await witnessedRun(two, 8, 1000);
      await until('two steps have ended', () => seen().filter(({ what }) => what === 'ends').length >= 2);
      const [host = 0] = hostsOf(frozen.process.pid);
      process.kill(frozen.process.pid, 'SIGSTOP');

      await using third = await startChaosServer({
        ...SHORT_LEASE,
        DATABASE_URI: pair.url,
        AGENT_SERVER_HOSTS: '1',
      });
      const isElsewhere = () => seen().some(({ pid }) => pid === third.process.pid);
      await until('another process has taken the run', isElsewhere);
      expect(hasEnded(host)).toBe(true);
      process.kill(frozen.process.pid, 'SIGCONT');
      await expectWitnessed(two.http, run, 8);
      expect(besideEachOther(seen())).toEqual([]);
      // Whatever is handed over later, as on a machine that is slow, is not charged.
      expect((await attemptsOf(two.http, run)).at(-1)).toBe(2);

      await third.process.kill('SIGTERM');
      await until('it has a host again', async () => {
        const { server } = await frozen.http.call<ServerInfo>('GET', '/info');
        return server.hosts?.ready === 1;
      });
      const next = await witnessedRun(two, 2, 10);
      await expectWitnessed(two.http, next.run, 2);
      expect(new Set(next.seen().map(({ pid }) => pid))).toEqual(new Set([frozen.process.pid]));
    });

    test('are terminated even while a node blocks them', async () => {
      await using pair = await startWithHost();
      const { one: frozen, two } = pair;
      const run = await startRun(two.http, { assistant_id: 'blocks', input: { ms: 600_000 } });
      await until('it executes', async () => (await getRun(two.http, run)).status === 'running');
      const [host = 0] = hostsOf(frozen.process.pid);
      process.kill(frozen.process.pid, 'SIGSTOP');
      await until('its host has ended', () => hasEnded(host));
      // It may have been frozen within a transaction, which PostgreSQL ends after 15 s.
      const remove = () => two.http.send('DELETE', `/threads/${run.thread_id}`);
      await until('its thread is deleted', async () => (await remove()).status < 300);
      process.kill(frozen.process.pid, 'SIGCONT');
      expect(await frozen.process.kill('SIGTERM')).toBe(0);
    });
  },
);
