/**
 * The longest piece of work, ms, for which this process let nothing else happen while something was done: the CPU time
 * that its thread used between two turns. The delay of its event loop is longer wherever others have the core.
 */
export async function longestPiece(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user - last.user + now.system - last.system);
    last = now;
  };
  const looking = setInterval(look, 1);
  try {
    await work();
    look();
  } finally {
    clearInterval(looking);
  }
  return longest / 1e3;
}
