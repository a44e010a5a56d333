import { randomBytes } from 'node:crypto';
import { chmod, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Error codes of paths that are too long, and of folders without write permission. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['ENAMETOOLONG', 'EACCES', 'EPERM']);

/**
 * Deletes a file, or a folder with anything that untrusted code created in it: Node's own `rm` fails on folders nested
 * too deeply for a path, and on read-only ones. Does nothing if it does not exist.
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
      // Moving a folder changes its `..` entry, which requires permission to write in it.
      await chmod(path, 0o700);
      await rename(path, moved);
      folders.push(moved);
    }
    if (folder !== top) await rmdir(folder);
  }
  await rmdir(top);
}
