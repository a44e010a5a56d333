import { collector } from '../../support/collector.ts';
import { type BenchServer, benchServer, ECHO, TEN_STEPS } from '../bench-server.ts';
import type { Measurement, Scenario } from '../measurements.ts';
import { type SharedLoad, sideBySide, waits } from '../side-by-side.ts';

const LOADS: readonly SharedLoad[] = [
  { what: 'echo, 4 at once', concurrency: 4, count: 80, request: waits(ECHO) },
  { what: 'ten steps, 4 at once', concurrency: 4, count: 40, request: waits(TEN_STEPS) },
];

/** What traces cost the runs: none, a collector that answers, and one that accepts requests and never answers. */
export const traces: Scenario = {
  title: 'Runs with and without traces',
  async run() {
    await using stack = new AsyncDisposableStack();
    const servers = new Map<string, BenchServer>();
    const open = async (name: string, env: Record<string, string>) =>
      servers.set(name, stack.use(await benchServer({ concurrency: 16, env })));
    const answers = stack.use(await collector());
    const hangs = stack.use(await collector({ answers: false }));
    await open('no traces', {});
    await open('collector answers', { OTEL_EXPORTER_OTLP_ENDPOINT: answers.url });
    await open('collector hangs', { OTEL_EXPORTER_OTLP_ENDPOINT: hangs.url });
    const measurements: Measurement[] = [];
    for (const load of LOADS) measurements.push(...(await sideBySide(servers, load)));
    return measurements;
  },
};
