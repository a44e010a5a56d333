import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { peakResidentBytes } from '../support/process-usage.ts';
import { joinRun } from '../support/remote-runs.ts';
import { startChaosServer } from './server.ts';

const MEGABYTE = 1024 ** 2;
// So many that retaining them exceeds what the garbage collector leaves for later (up to 130 MB).
const EVENTS = 400;

test('events that a run has sent do not stay in memory until it ends', { timeout: 120_000 }, async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const run = async (count: number) => {
    const thread_id = randomUUID();
    const params = { assistant_id: 'flood', input: { count, bytes: MEGABYTE } };
    const command = { id: 1, method: 'run.start', params };
    const answer = await http.call<{ result: { run_id: string } }>(
      'POST',
      `/threads/${thread_id}/commands`,
      command,
    );
    const joined = await joinRun(http, { thread_id, run_id: answer.result.run_id });
    expect(joined).toMatchObject({ emitted: count });
  };
  // What a run costs by itself.
  await run(EVENTS / 10);
  const before = peakResidentBytes(server.process.pid);

  await run(EVENTS);

  const grown = (peakResidentBytes(server.process.pid) - before) / MEGABYTE;
  expect(grown).toBeLessThan(EVENTS / 2);
});
