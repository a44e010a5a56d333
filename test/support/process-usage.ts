import { readFileSync } from 'node:fs';

/** Kernel ticks of /proc; 100 a second on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that the process has used since its start, all its threads together. Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces; what follows it begins with the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Bytes of memory that the process holds at this moment. Linux only. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/** The most that the process has ever held. Linux only. */
export function peakResidentBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

function statusBytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
