import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { columns, number } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { sql } from '../../src/db/sql.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { loadBalancer } from '../support/load-balancer.ts';
import { nextRelease } from '../support/next-release.ts';
import { agentServer } from '../support/program.ts';
import { createThread, joinRun, type RemoteRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { watchChanges } from '../support/watched-changes.ts';
import { insist } from './clients.ts';
import type { Witnessed } from './graphs/witness.ts';
import { startRolloutLoad } from './rollout-load.ts';
import { type ChaosServer, startChaosServer } from './server.ts';
import { violations } from './violations.ts';

const SLOTS = 6;
const CONFIG = join(import.meta.dirname, 'agent.config.yaml');

/** Runs that are created at `from` execute in both processes, and `other` joins them and hears of what changes. */
async function expectUnderstood(from: ChaosServer, other: ChaosServer): Promise<void> {
  using changes = await watchChanges(other.process.url);
  await changes.until('thread', await createThread(from.http));

  const file = join(await makeDataFolder(), 'witnessed');
  const body = { assistant_id: 'witness', input: { file, steps: 3, ms: 200 } };
  const create = async (): Promise<RemoteRun> => {
    const path = `/threads/${await createThread(from.http)}/runs`;
    return (await insist(from.http, 'POST', path, body)).answer.body as RemoteRun;
  };
  const executed = () => {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return new Set(lines.map((line) => (JSON.parse(line) as Witnessed).pid));
  };
  // A slow client may create them no faster than one process ends them.
  await until('both processes have executed some', async () => {
    const runs = await Promise.all(Array.from({ length: 2 * SLOTS }, create));
    for (const run of runs) expect(await joinRun(other.http, run)).toMatchObject({ executed: [1, 2, 3] });
    return executed().size > 1;
  });
  expect(executed()).toEqual(new Set([from.process.pid, other.process.pid]));
}

describe.runIf(TEST_POSTGRES_URI)('a rolling upgrade', () => {
  test('replaces two processes under load by the next release: no request fails, and every run ends once', {
    timeout: 600_000,
  }, async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    await using release = await nextRelease();
    await using db = openPostgres(schema.url);
    const env = { DATABASE_URI: schema.url, N_JOBS_PER_WORKER: String(SLOTS) };
    await using one = await startChaosServer(env);
    await using two = await startChaosServer(env);
    await using balancer = await loadBalancer(one.process.url, two.process.url);
    const load = startRolloutLoad(balancer.url);
    const upgrade = async ({ process, http }: ChaosServer) => {
      expect(await process.kill('SIGTERM')).toBe(0);
      process.program = release.program;
      await process.restart();
      expect(await http.call('GET', '/info')).toMatchObject({ server: { version: release.version } });
    };

    await load.served();
    const args = ['migrate', '--config', CONFIG];
    const migrated = await agentServer(args, { program: release.program, env });
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    for (const version of release.migrations) expect(migrated.stdout).toContain(`: ${version} next\n`);
    await load.served();
    await upgrade(one);
    await load.served();
    await expectUnderstood(one, two);
    await expectUnderstood(two, one);
    await upgrade(two);
    await load.served();
    await load.stop();

    expect(await violations(db)).toEqual({});
    const ended = await db.all(
      sql`select ${columns('runs', 'thread_id')}, count(*) as ${number('n')} from runs group by thread_id`,
    );
    const counts = new Map(ended.map(({ thread_id, n }) => [thread_id, n]));
    expect(load.threads.map((thread_id) => counts.get(thread_id))).toEqual(load.threads.map(() => 1));
    const written = await db.all(
      sql`select distinct coalesce(release, 'this') as ${columns('runs', 'status')} from runs`,
    );
    expect(written).toHaveLength(2);
  });
});
