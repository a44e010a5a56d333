import { joinRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import type { ChaosServer } from './server.ts';

/** The final state of a run that lost no step and executed none twice. */
export const WHOLE = { n: 10, executed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] };

/**
 * Starts background runs of ten steps, and kills the server with SIGKILL each time that so many of them have ended.
 * Resolves to the final states of all runs. Throws if they all ended before a kill.
 */
export async function runsThroughKills(
  { http, process }: ChaosServer,
  count: number,
  killed_after: readonly number[],
): Promise<{ readonly runs: readonly RemoteRun[]; readonly values: readonly unknown[] }> {
  const ended = () => http.call<number>('POST', '/threads/count', { status: 'idle' });
  const runs = await Promise.all(
    Array.from({ length: count }, (_, index) => startRun(http, tenSteps(index))),
  );
  for (const wanted of killed_after) {
    await until(`${wanted} runs have ended`, async () => (await ended()) >= wanted);
    if ((await ended()) === count) throw new Error(`All ${count} runs ended before the kill.`);
    await process.kill('SIGKILL');
    await process.restart();
  }
  return { runs, values: await Promise.all(runs.map((run) => joinRun(http, run))) };
}

/** Runs of different length, so that a kill meets them at different steps. */
function tenSteps(index: number) {
  const config = { configurable: { step_ms: 10 + (index % 7) * 10 } };
  return { assistant_id: 'ten-steps', input: { n: 0 }, config };
}
