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

/** Files that are read at once: a build may start thousands of processes, and the server has sockets to open. */
const READ_AT_ONCE = 64;

/** All processes that live; empty where there is no `/proc`, so that nothing is known of them. */
export async function processes(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  return (await mapSome(pids, readProcess)).filter((entry) => entry !== undefined);
}

/** Each thread counts, as it does for the limits of the kernel. */
export function tasksOf(entries: readonly ProcessEntry[]): number {
  return entries.reduce((sum, { threads }) => sum + threads, 0);
}

/** Those of the processes whose environment, with which each was started, has such a variable. */
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
  // It may have ended since.
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

/** Those that descend from a process, or share its group or session. What has left all three is not found. */
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
 * What folders occupy on the disk together, bytes. A file with several links counts once, and what vanishes meanwhile
 * does not count.
 */
export async function diskUsage(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  const options = {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  };
  // It exits with 1 if anything vanished or is missing, and has counted the rest.
  const { stdout } = await run('du', ['-sk', '--', ...folders], options).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const kilobytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return kilobytes.reduce((sum, each) => sum + each * 1024, 0);
}
