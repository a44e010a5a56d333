import { type BenchServer, benchServer, ECHO, TEN_STEPS } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const WARM_UP = 300;

/** `POST /runs/wait` with the smallest graph: what the server itself costs. */
export const echo: Scenario = {
  title: 'POST /runs/wait, graph echo',
  async run() {
    await using server = await benchServer({ concurrency: 64 });
    await measureLoad({
      concurrency: 16,
      count: WARM_UP,
      request: () => server.http.call('POST', '/runs/wait', ECHO),
    });
    return [
      ...(await waits(server, ECHO, { concurrency: 1, count: 1000 }, 5)),
      ...(await waits(server, ECHO, { concurrency: 16, count: 2000 })),
      ...(await waits(server, ECHO, { concurrency: 64, count: 2000 })),
    ];
  },
};

/** Ten supersteps, each with its checkpoint. */
export const tenSteps: Scenario = {
  title: 'POST /runs/wait, graph of ten checkpointed steps',
  async run() {
    await using server = await benchServer({ concurrency: 64 });
    await measureLoad({
      concurrency: 8,
      count: 100,
      request: () => server.http.call('POST', '/runs/wait', TEN_STEPS),
    });
    return [
      ...(await waits(server, TEN_STEPS, { concurrency: 1, count: 200 })),
      ...(await waits(server, TEN_STEPS, { concurrency: 16, count: 400 })),
    ];
  },
};

async function waits(
  server: BenchServer,
  run: unknown,
  load: { concurrency: number; count: number },
  aim?: number,
): Promise<Measurement[]> {
  const cpu = server.cpu();
  const request = () => server.http.call('POST', '/runs/wait', run);
  const { latencies_ms, wall_ms } = await measureLoad({ ...load, request });
  const at = `${load.concurrency} at once:`;
  return [
    ...percentiles(at, latencies_ms, aim),
    { what: `${at} rate`, value: (load.count / wall_ms) * 1000, unit: 'runs/s' },
    { what: `${at} server CPU a run`, value: ((server.cpu() - cpu) / load.count) * 1000, unit: 'ms' },
  ];
}
