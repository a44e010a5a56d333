import { constants, copyFile, mkdir, readdir, readlink, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BuildContext } from './build-context.ts';
import { BuildFailure } from './build-failure.ts';

/** Not copied: the build recreates these or does not use them. */
const LEFT_OUT = new Set(['node_modules', '.git']);

/** Copies a local folder to `root`, which must not exist yet. Links are copied as links. */
export async function copyFolder(context: BuildContext, from: string, root: string): Promise<void> {
  const { request, signal } = context;
  if (request.allow_file_urls !== true) {
    throw new BuildFailure('source', {
      code: 'file_urls_forbidden',
      message: 'Repositories and folders on the server’s own machine are not allowed.',
      hint: 'Use https or ssh, or have the operator allow file: addresses.',
    });
  }
  const isFolder = await stat(from).then(
    (info) => info.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const hint = 'Give the absolute path of a folder that the server can read.';
    throw new BuildFailure('source', { code: 'folder_missing', message: `${from} is not a folder.`, hint });
  }
  const skipped = resolve(request.folder);
  let left = request.limits.disk_bytes;
  const copy = async (source: string, target: string): Promise<void> => {
    await mkdir(target, { mode: 0o700 });
    for (const entry of await readdir(source, { withFileTypes: true })) {
      signal.throwIfAborted();
      const path = join(source, entry.name);
      // The folder may itself contain the stored revisions.
      if (LEFT_OUT.has(entry.name) || path === skipped) continue;
      const to = join(target, entry.name);
      if (entry.isDirectory()) await copy(path, to);
      else if (entry.isSymbolicLink()) await symlink(await readlink(path), to);
      else if (entry.isFile()) {
        left -= (await stat(path)).size;
        if (left < 0) throw folderTooLarge(request.limits.disk_bytes);
        await copyFile(path, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      }
    }
  };
  await copy(resolve(from), root);
}

function folderTooLarge(limit: number): BuildFailure {
  return new BuildFailure('source', {
    code: 'disk_limit',
    message: `The folder contains more than ${limit} bytes.`,
    hint: 'Move data out of the folder, or have the operator raise the disk limit of builds.',
  });
}
