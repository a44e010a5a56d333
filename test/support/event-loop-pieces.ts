import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * The longest piece of work, ms, for which this process let nothing else happen while something was done: the delay of
 * its event loop, and no more than the CPU time that its thread used between two turns, for a busy machine delays
 * everybody.
 */
export async function longestPiece(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let used = 0;
  let last = process.threadCpuUsage();
  const look = setInterval(() => {
    const now = process.threadCpuUsage();
    used = Math.max(used, now.user - last.user + now.system - last.system);
    last = now;
  }, 1);
  delay.enable();
  try {
    await work();
  } finally {
    clearInterval(look);
    delay.disable();
  }
  return Math.min(delay.max / 1e6, used / 1e3);
}
