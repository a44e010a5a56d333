import { constants } from 'node:fs';
import { access, lstat, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../command.ts';

/** Planned change of one project file. */
export interface FileChange {
  readonly name: string;
  readonly state: 'created' | 'changed' | 'kept';
  /** The whole file, or the text to add with `append`. */
  readonly text?: string | Uint8Array;
  readonly append?: true;
}

/** True for a dangling symlink, too. */
export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Writes all files in order, after checking that each can be written. Throws a `UsageError` that names the file. */
export async function writeAll(root: string, changes: readonly FileChange[]): Promise<void> {
  const open = changes.filter(({ state }) => state !== 'kept');
  for (const { name, state } of open) {
    const file = join(root, name);
    await naming(file, state === 'created' ? canCreate(file) : access(file, constants.W_OK));
  }
  for (const change of open) await naming(join(root, change.name), write(root, change));
}

async function write(root: string, { name, state, text = '', append }: FileChange): Promise<void> {
  const file = join(root, name);
  await mkdir(dirname(file), { recursive: true });
  // `wx`: never overwrites a file created in the meantime.
  const flag = state === 'created' ? 'wx' : append ? 'a' : 'w';
  await writeFile(file, text, { flag });
}

/** Checks that the nearest existing folder is writable. */
async function canCreate(file: string): Promise<void> {
  let folder = dirname(file);
  while (!(await exists(folder)) && dirname(folder) !== folder) folder = dirname(folder);
  if (!(await stat(folder)).isDirectory()) throw new UsageError(`${folder} is not a folder`);
  await access(folder, constants.W_OK | constants.X_OK);
}

async function naming(file: string, done: Promise<void>): Promise<void> {
  await done.catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`init: cannot write to ${file} (${error.code ?? error.message})`);
  });
}
