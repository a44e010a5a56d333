import { type BenchServer, benchServer } from '../bench-server.ts';
import type { Scenario } from '../measurements.ts';

const RUNS = 200;
const SLEEP_MS = 1000;
const ROUNDS = 3;

/** Background runs that only wait, as most agents do: do they wait side by side? */
export const sleepingRuns: Scenario = {
  title: `${RUNS} background runs that sleep ${SLEEP_MS} ms, runs.concurrency ${RUNS}`,
  async run() {
    await using server = await benchServer({ concurrency: RUNS });
    const walls_ms: number[] = [];
    for (let round = 0; round < ROUNDS; round++) walls_ms.push(await sleepAll(server));
    return [
      {
        what: 'first create to last end, first time',
        value: (walls_ms[0] as number) / 1000,
        unit: 's',
        aim: 1.5,
      },
      { what: 'the same, best', value: Math.min(...walls_ms) / 1000, unit: 's', aim: 1.5 },
    ];
  },
};

/** From the first create to the last end, ms. */
export async function sleepAll({ http }: BenchServer): Promise<number> {
  const threads = await Promise.all(
    Array.from({ length: RUNS }, () => http.call<{ thread_id: string }>('POST', '/threads', {})),
  );
  const started = performance.now();
  await Promise.all(
    threads.map(async ({ thread_id }) => {
      const runs = `/threads/${thread_id}/runs`;
      const body = { assistant_id: 'sleeper', input: { ms: SLEEP_MS, label: thread_id } };
      const { run_id } = await http.call<{ run_id: string }>('POST', runs, body);
      const { slept } = await http.call<{ slept: string[] }>('GET', `${runs}/${run_id}/join`);
      if (slept[0] !== thread_id) throw new Error(`run ${run_id} did not sleep`);
    }),
  );
  return performance.now() - started;
}
