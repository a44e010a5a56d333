import { randomBytes } from 'node:crypto';
import { chmod, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Answers to paths that are too long, and to folders that nobody may write. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['ENAMETOOLONG', 'EACCES', 'EPERM']);

/**
 * Deletes a file, or a folder with whatever foreign code has made in it: Node's own `rm` gives up at folders that are
 * nested too deeply for a path, and at those that are read-only. Does nothing if there is none.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    if (!REFUSALS.has((error as NodeJS.ErrnoException).code)) throw error;
    await removeFlattened(path);
  }
}

/** Moves every folder to the top before it is emptied, so that no path grows. Names need not be UTF-8. */
async function removeFlattened(top: string): Promise<void> {
  const folders = [top];
  for (const folder of folders) {
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
      const path = Buffer.concat([Buffer.from(`${folder}/`), entry.name]);
      if (!entry.isDirectory()) {
        await unlink(path);
        continue;
      }
      const moved = join(top, randomBytes(16).toString('hex'));
      // The entry of its parent is within it.
      await chmod(path, 0o700);
      await rename(path, moved);
      folders.push(moved);
    }
    if (folder !== top) await rmdir(folder);
  }
  await rmdir(top);
}
