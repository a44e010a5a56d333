import { spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';

/** Copies the files that a clone of this working copy would have into `root`. */
export async function cloneInto(root: string): Promise<void> {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const path of listed.stdout.split('\0').filter((each) => each !== ''))
    await cp(path, join(root, path)).catch((error) => {
      // Deleted, but not in the index yet.
      if (error.code !== 'ENOENT') throw error;
    });
}
