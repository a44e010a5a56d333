import { type BenchServer, benchServer, ECHO } from '../bench-server.ts';
import { percentile, type Scenario } from '../figures.ts';
import { measureLoad } from '../load.ts';

const STARTS = 5;
const RUNS = 1000;

/** From the start of the process to its first answer, and the memory that it holds. */
export const startUp: Scenario = {
  title: 'Start-up and memory',
  async run() {
    await using server = await benchServer();
    const starts_ms: number[] = [];
    for (let i = 0; i < STARTS; i++) starts_ms.push(await restart(server));
    const rest = server.residentMegabytes();
    const request = () => server.http.call('POST', '/runs/wait', ECHO);
    await measureLoad({ concurrency: 8, count: RUNS, request });
    return [
      { what: 'start to /ok, median', value: percentile(starts_ms, 0.5) / 1000, unit: 's', aim: 1 },
      { what: 'start to /ok, longest', value: Math.max(...starts_ms) / 1000, unit: 's' },
      { what: 'resident memory at rest', value: rest, unit: 'MB' },
      { what: `resident memory after ${RUNS} runs`, value: server.residentMegabytes(), unit: 'MB' },
    ];
  },
};

async function restart({ process, http }: BenchServer): Promise<number> {
  await process.kill('SIGTERM');
  const started = performance.now();
  await process.restart();
  await http.call('GET', '/ok');
  return performance.now() - started;
}
