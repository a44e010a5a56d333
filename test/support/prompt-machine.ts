import { Worker } from 'node:worker_threads';

/** A thread that does nothing but notice how late its timer fires, in ms, at most. */
const METER = `const { workerData } = require('node:worker_threads');
const EVERY_MS = 10;
const most = new Int32Array(workerData);
let before = performance.now();
setInterval(() => {
  const now = performance.now();
  Atomics.store(most, 0, Math.max(most[0], Math.round(now - before - EVERY_MS)));
  before = now;
}, EVERY_MS);`;

const ATTEMPTS = 5;

/**
 * Runs a story whose limits a machine that is busy with other programs cannot keep: it is repeated if it fails and
 * timers were `late_ms` late meanwhile. Whatever fails on a machine that keeps up, or each time, is a failure.
 */
export async function onPromptMachine(late_ms: number, story: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const most = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const meter = new Worker(METER, { eval: true, workerData: most.buffer });
    try {
      return await story();
    } catch (error) {
      if (attempt === ATTEMPTS || Atomics.load(most, 0) < late_ms) throw error;
    } finally {
      await meter.terminate();
    }
  }
}
