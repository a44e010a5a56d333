/** CPU time of this thread, ms, that some work takes: unlike a clock, it stands still while others have the core. */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e3;
}
