import { statSync } from 'node:fs';
import { type BenchServer, benchServer } from '../bench-server.ts';
import { type Figure, percentile, type Scenario } from '../figures.ts';

const TURNS = 100;
/** Single turns are noisy; the figure is the median over this many threads. */
const THREADS = 5;

/** A conversation that goes on: does a turn cost more the longer it is, and does storage grow with its square? */
export const longThread: Scenario = {
  title: `A thread of ${TURNS} turns`,
  async run() {
    await using server = await benchServer();
    await talk(server, 20);
    await server.process.kill('SIGTERM');
    const before = bytes(server);
    await server.process.restart();
    await talk(server, 20);

    const threads: { state: string; latencies_ms: number[] }[] = [];
    for (let i = 0; i < THREADS; i++) threads.push(await talk(server, TURNS));
    // After a clean stop nothing is left in the log beside the database.
    await server.process.kill('SIGTERM');
    const stored = bytes(server) - before;
    const state = threads.reduce((sum, thread) => sum + Buffer.byteLength(thread.state), 0);

    const turn = (number: number): Figure => ({
      what: `turn ${number}`,
      value: percentile(
        threads.map(({ latencies_ms }) => latencies_ms[number - 1] as number),
        0.5,
      ),
      unit: 'ms',
    });
    return [
      turn(1),
      turn(50),
      turn(100),
      { what: 'final state', value: state / THREADS / 1024 ** 2, unit: 'MB' },
      { what: 'database a thread', value: stored / THREADS / 1024 ** 2, unit: 'MB' },
      { what: 'database ÷ final state', value: stored / state, unit: '×' },
    ];
  },
};

async function talk(
  { http }: BenchServer,
  turns: number,
): Promise<{ state: string; latencies_ms: number[] }> {
  const { thread_id } = await http.call<{ thread_id: string }>('POST', '/threads', {});
  const latencies_ms: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const input = { messages: [{ role: 'user', content: `Question ${turn}: what does the fox do?` }] };
    const started = performance.now();
    await http.call('POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'conversation', input });
    latencies_ms.push(performance.now() - started);
  }
  const { values } = await http.call<{ values: unknown }>('GET', `/threads/${thread_id}/state`);
  return { state: JSON.stringify(values), latencies_ms };
}

function bytes({ process }: BenchServer): number {
  return statSync(process.database).size;
}
