import { randomUUID } from 'node:crypto';
import { peakResidentBytes } from '../../support/process-usage.ts';
import { joinRun } from '../../support/remote-runs.ts';
import { type BenchServer, benchServer } from '../bench-server.ts';
import type { Scenario } from '../measurements.ts';

const MEGABYTE = 1024 ** 2;
// So many that keeping them exceeds what the garbage collector leaves for later (up to 130 MB).
const EVENTS = 400;

/** Events that a run has sent must not stay in memory until it ends. */
export const talkativeRun: Scenario = {
  title: `A run of event streaming that sends ${EVENTS} events of 1 MB`,
  async run() {
    await using server = await benchServer();
    // What a run costs by itself.
    await talk(server, EVENTS / 10);
    const before = peakResidentBytes(server.process.pid);
    await talk(server, EVENTS);
    const value = (peakResidentBytes(server.process.pid) - before) / MEGABYTE;
    return [
      { what: `most memory beyond a run of ${EVENTS / 10} events`, value, unit: 'MB', aim: EVENTS / 2 },
    ];
  },
};

async function talk({ http }: BenchServer, count: number): Promise<void> {
  const thread_id = randomUUID();
  const params = { assistant_id: 'flood', input: { count, bytes: MEGABYTE } };
  const command = { id: 1, method: 'run.start', params };
  const path = `/threads/${thread_id}/commands`;
  const { result } = await http.call<{ result: { run_id: string } }>('POST', path, command);
  await joinRun(http, { thread_id, run_id: result.run_id });
}
