import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MEMORY = resolve(import.meta.dirname, '../../src/core/memory.ts');

/** Blocks the event loop for a third of the time without CPU, as a machine does that has no core for it. */
const HELD_UP = `
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.wait(nothing, 0, 0, 150), 450).unref();`;

/** Long-lived enough that V8 lets the young generation grow; ends each turn so that timers are called. */
const program = (objects: number) => `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { returnMemoryWhenIdle } from ${JSON.stringify(MEMORY)};
  async function allocate() {
    const recent = [];
    for (let i = 0; i < 3_000_000; i++) {
      recent[i % 20_000] = { i, next: [i] };
      if (i % 10_000 === 0) await new Promise(setImmediate);
    }
  }
  let collections = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries())
      if (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) collections++;
  }).observe({ entryTypes: ['gc'] });
  using memory = returnMemoryWhenIdle(2000);
  let retained = Array.from({ length: ${objects} }, (_, i) => ({ i, text: [i] }));
  await allocate();
  const collections_busy = collections;
  retained = undefined;
  // V8 returns all of a large heap only after the second one. The scenario start-up of the benchmark measures how much.
  while (collections < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(JSON.stringify({ collections_busy, collections }));`;

test.each([
  ['an idle process', program(400_000)],
  ['an idle process with 300 MB of garbage', program(2_500_000)],
  ['an idle process on a busy machine', HELD_UP + program(400_000)],
])('%s collects its garbage twice, and not before it is idle', async (_process, text) => {
  const args = ['--input-type=module', '--eval', text];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({ collections_busy: 0, collections: 2 });
});
