import { RECORD_LEVELS } from '../../../src/schemas/steps.ts';
import { type BenchServer, benchServer, ECHO, TEN_STEPS } from '../bench-server.ts';
import type { Measurement, Scenario } from '../measurements.ts';
import { type SharedLoad, sideBySide, streams, waits } from '../side-by-side.ts';

const TOKENS = { assistant_id: 'tokens', input: { count: 200 }, stream_mode: ['messages-tuple'] };
const READS = { assistant_id: 'store-calls', input: { calls: 900, of: 'get' } };

const LOADS: readonly SharedLoad[] = [
  { what: 'echo, 16 at once', concurrency: 16, count: 320, request: waits(ECHO) },
  { what: 'ten steps, 16 at once', concurrency: 16, count: 160, request: waits(TEN_STEPS) },
  { what: '900 reads of the store one after the other', concurrency: 4, count: 8, request: waits(READS) },
  { what: '200 tokens, 16 at once', concurrency: 16, count: 64, request: streams(TOKENS) },
];

/** What the step recorder costs: the same runs at each level of `runs.record`, side by side. */
export const steps: Scenario = {
  title: 'Runs with and without recorded steps',
  async run() {
    await using stack = new AsyncDisposableStack();
    const servers = new Map<string, BenchServer>();
    for (const level of RECORD_LEVELS) {
      const env = { AGENT_SERVER_RECORD: level };
      servers.set(level, stack.use(await benchServer({ concurrency: 64, env })));
    }
    const measurements: Measurement[] = [];
    for (const load of LOADS) measurements.push(...(await sideBySide(servers, load)));
    return measurements;
  },
};
