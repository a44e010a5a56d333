import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Of file systems that cannot flush a folder, and of folders above ours that this user may only pass through. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'EPERM', 'EACCES']);

/**
 * The entries of a folder, and of those above it up to `top`, are on disk when this resolves: without its name, a file
 * whose data was flushed is lost in a power cut all the same.
 */
export async function flushFolders(path: string, top: string): Promise<void> {
  for (let folder = path; ; folder = dirname(folder)) {
    await flush(folder).catch((error: NodeJS.ErrnoException) => {
      if (!REFUSALS.has(error.code)) throw error;
    });
    if (folder === top || folder === dirname(folder)) return;
  }
}

/** The data of a file, or the entries of a folder, are on disk when this resolves. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
