import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process of this machine, as `/proc` shows it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly uid: number;
  readonly rss_bytes: number;
  readonly threads: number;
}

/** Concurrent reads: a build may start thousands of processes, and the server needs file descriptors for sockets. */
const READ_AT_ONCE = 64;

/** All live processes; empty on systems without `/proc`. */
export async function processes(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  return (await mapSome(pids, readProcess)).filter((entry) => entry !== undefined);
}

/** Counts threads, as the kernel's limits do. */
export function tasksOf(entries: readonly ProcessEntry[]): number {
  return entries.reduce((sum, { threads }) => sum + threads, 0);
}

/** Filters processes whose initial environment has such a variable. */
export async function withVariable(
  entries: readonly ProcessEntry[],
  isWanted: (variable: string) => boolean,
): Promise<ProcessEntry[]> {
  const found = await mapSome(entries, async ({ pid }) => (await environmentOf(pid)).some(isWanted));
  return entries.filter((_, at) => found[at]);
}

async function mapSome<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += READ_AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + READ_AT_ONCE).map(map))));
  return results;
}

async function readProcess(pid: string): Promise<ProcessEntry | undefined> {
  // The process may have exited meanwhile.
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const fields = new Map(status.split('\n').map((line) => line.split(/[\t ]+/, 2) as [string, string]));
  if (!status || fields.get('State:') === 'Z') return undefined;
  return {
    pid: Number(pid),
    parent: Number(fields.get('PPid:')),
    group: Number(fields.get('NSpgid:')),
    session: Number(fields.get('NSsid:')),
    uid: Number(fields.get('Uid:')),
    rss_bytes: Number(fields.get('VmRSS:') ?? 0) * 1024,
    threads: Number(fields.get('Threads:') ?? 1),
  };
}

/**
 * Filters descendants of a process, and members of its group or session. A process that left all three is not found.
 */
export function familyOf(root: number, all: readonly ProcessEntry[]): ProcessEntry[] {
  const found = new Set([root]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid, group, session }) => found.has(pid) || group === root || session === root);
}

async function environmentOf(pid: number): Promise<string[]> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0');
}

const run = promisify(execFile);

/**
 * Disk usage of folders in total, bytes. A file with several links counts once; files that vanish meanwhile do not
 * count.
 */
export async function diskUsage(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  const options = {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  };
  // `du` exits with 1 if a file vanished or is missing, but has counted the rest.
  const { stdout } = await run('du', ['-sk', '--', ...folders], options).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const kilobytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return kilobytes.reduce((sum, each) => sum + each * 1024, 0);
}
