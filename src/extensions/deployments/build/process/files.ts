import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const options = { env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' }, maxBuffer: 1024 * 1024 };

/** Changes the owner of trees; of links, not of their targets. */
export async function giveTo(uid: number, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await run('chown', ['-R', '-P', '-h', `${uid}:${uid}`, '--', ...paths], options);
}

/**
 * Copies a tree to a new path, and preserves owners, modes and links. With `links`, files are hard links to the same
 * data: they take no space, and a write into one changes both.
 */
export async function copyTree(from: string, to: string, links: boolean, signal: AbortSignal): Promise<void> {
  await run('cp', ['-a', ...(links ? ['-l'] : []), '--', from, to], { ...options, signal });
}
