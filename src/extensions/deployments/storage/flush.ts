import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Errors of file systems that cannot flush a folder, and of parent folders that this user may only traverse. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'EPERM', 'EACCES']);

/**
 * Flushes the entries of a folder and of its parents up to `top`: without its name, a flushed file is still lost in a
 * power failure.
 */
export async function flushFolders(path: string, top: string): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    await flush(folder).catch((error: NodeJS.ErrnoException) => {
      if (!REFUSALS.has(error.code)) throw error;
    });
    if (folder === top || folder === dirname(folder)) return;
  }
}

/** Flushes the data of a file or the entries of a folder. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
