import { constants } from 'node:fs';
import { access, lstat, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../command.ts';

/** What becomes of one file of the project. */
export interface FileChange {
  readonly name: string;
  readonly state: 'created' | 'changed' | 'kept';
  /** The whole file, or with `append` what is put behind it. */
  readonly text?: string;
  readonly append?: true;
}

/** Also a link that leads nowhere. */
export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Writes all of them in their order, and none when one of them cannot be. Throws a `UsageError` that names it. */
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
  // What has come into being since then is not overwritten.
  const flag = state === 'created' ? 'wx' : append ? 'a' : 'w';
  await writeFile(file, text, { flag });
}

/** Whether the nearest folder that is there takes new files. */
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
