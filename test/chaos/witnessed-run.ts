import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
import { getRun, joinRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import type { Witnessed } from './graphs/witness.ts';
import type { ChaosServer } from './server.ts';

const LEASE_SECONDS = 4;
export const SHORT_LEASE = { AGENT_SERVER_LEASE_SECONDS: String(LEASE_SECONDS) };

/** A run whose steps write into a file of their own. */
export async function witnessedRun({ http }: ChaosServer, steps: number, ms: number) {
  const file = join(await makeDataFolder(), 'witnessed');
  const input = { file, steps, ms };
  const run = await startRun(http, { assistant_id: 'witness', input, stream_resumable: true });
  const seen = (): Witnessed[] => {
    try {
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  };
  return { run, seen };
}

/** Steps that began in one process before one in another had come to its end. */
export function besideEachOther(seen: readonly Witnessed[]): Witnessed[] {
  return seen.filter(({ pid, what }, index) => {
    const others = seen.slice(0, index).filter((before) => before.pid !== pid);
    const open = others.filter((before) => before.what === 'begins').length;
    return what === 'begins' && open !== others.filter((before) => before.what !== 'begins').length;
  });
}

/** The run comes to its end, each step counted once. */
export async function expectWitnessed(
  http: ChaosServer['http'],
  run: RemoteRun,
  steps: number,
): Promise<void> {
  const executed = Array.from({ length: steps }, (_, index) => index + 1);
  expect(await joinRun(http, run)).toMatchObject({ executed });
  expect(await getRun(http, run)).toMatchObject({ status: 'success' });
}
