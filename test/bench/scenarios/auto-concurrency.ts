import { type BenchServer, benchServer } from '../bench-server.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';
import { sleepAll } from './sleeping-runs.ts';

const ROUNDS = 3;
const COMPUTING = 100;
const COMPUTE_MS = 50;

const SETTINGS = ['10', '200', 'auto'] as const;
const HOSTS = [
  { where: 'in process', AGENT_SERVER_HOSTS: '0' },
  { where: 'one host', AGENT_SERVER_HOSTS: '1' },
];

/** What `runs.concurrency: auto` gives to runs that wait, and what it costs those that compute. */
export const autoConcurrency: Scenario = {
  title: `200 background runs that sleep 1 s, and ${COMPUTING} that compute ${COMPUTE_MS} ms, runs.concurrency 10, 200 and auto`,
  async run() {
    const measurements: Measurement[] = [];
    for (const { where, AGENT_SERVER_HOSTS } of HOSTS) {
      for (const concurrency of SETTINGS) {
        await using server = await benchServer({ concurrency, env: { AGENT_SERVER_HOSTS } });
        const name = `${where}, ${concurrency}:`;
        measurements.push(...(await sleeping(server, name, concurrency)), ...(await computing(server, name)));
      }
    }
    return measurements;
  },
};

async function sleeping(server: BenchServer, name: string, concurrency: string): Promise<Measurement[]> {
  const walls_ms: number[] = [];
  for (let round = 0; round < (concurrency === '10' ? 1 : ROUNDS); round++)
    walls_ms.push(await sleepAll(server));
  const aim = concurrency === 'auto' ? { aim: 1.8 } : {};
  return [
    { what: `${name} runs that sleep, first time`, value: (walls_ms[0] as number) / 1000, unit: 's', ...aim },
    { what: `${name} the same, best`, value: Math.min(...walls_ms) / 1000, unit: 's', ...aim },
  ];
}

/** All are enqueued at once; each is measured from its request to its end. */
async function computing({ http }: BenchServer, name: string): Promise<Measurement[]> {
  const began = performance.now();
  const latencies = await Promise.all(
    Array.from({ length: COMPUTING }, async () => {
      const started = performance.now();
      await http.call('POST', '/runs/wait', { assistant_id: 'blocks', input: { ms: COMPUTE_MS } });
      return performance.now() - started;
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  return [
    { what: `${name} runs that compute: rate`, value: COMPUTING / seconds, unit: 'runs/s' },
    ...percentiles(`${name} runs that compute:`, latencies),
  ];
}
