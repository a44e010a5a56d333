import { type Receiver, receiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';
import { type BenchServer, benchServer, ECHO } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { percentile, percentiles, type Scenario } from '../measurements.ts';

const DEAD = 1000;
const LOAD = { concurrency: 4, count: 600 };
const env = { LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}' };

/** What runs notice of webhooks: of their own, and of a thousand that wait for a receiver that takes them and is silent. */
export const webhooks: Scenario = {
  title: `Webhooks, and ${DEAD} of them to a receiver that never answers`,
  async run() {
    await using server = await benchServer({ concurrency: 16, env });
    await using up = await receiver();
    await using down = await receiver();
    down.answers.push(...Array<() => void>(2 * DEAD).fill(() => {}));
    const wait = (body: object) => () => server.http.call('POST', '/runs/wait', body);
    await measureLoad({ ...LOAD, request: wait({ ...ECHO, webhook: up.url }) });

    const without = await measureLoad({ ...LOAD, request: wait(ECHO) });
    const told = await measureLoad({ ...LOAD, request: wait({ ...ECHO, webhook: up.url }) });
    await measureLoad({ concurrency: 16, count: DEAD, request: wait({ ...ECHO, webhook: down.url }) });
    const beside = await measureLoad({ ...LOAD, request: wait(ECHO) });
    const again = await measureLoad({ ...LOAD, request: wait(ECHO) });
    const arrivals = await arrivalsBeside(server, up);

    const p50 = percentile(without.latencies_ms, 0.5);
    const slower =
      Math.min(...[beside, again].map(({ latencies_ms }) => percentile(latencies_ms, 0.5))) / p50;
    return [
      ...percentiles('a run without webhook', without.latencies_ms),
      ...percentiles('a run with webhook', told.latencies_ms),
      ...percentiles(`a run while ${DEAD} wait`, beside.latencies_ms),
      { what: 'the same, p50 against before', value: slower, unit: '×', aim: 1.1 },
      ...percentiles('from the answer of a run to its webhook, meanwhile', arrivals),
    ];
  },
};

async function arrivalsBeside({ http }: BenchServer, up: Receiver): Promise<number[]> {
  const arrivals: number[] = [];
  for (let i = 0; i < 100; i++) {
    const seen = up.received.length;
    const told = new Promise<number>((at) => {
      up.answers.push((_request, response) => {
        response.end();
        at(performance.now());
      });
    });
    await http.call('POST', '/runs/wait', { ...ECHO, webhook: up.url });
    const answered = performance.now();
    arrivals.push(Math.max(0, (await told) - answered));
    await until('it was received', () => up.received.length > seen);
  }
  return arrivals;
}
