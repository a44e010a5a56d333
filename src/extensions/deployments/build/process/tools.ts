import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Resolves a program name in a search path. */
export async function findOnPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    const isFile = await stat(file).then(
      (info) => info.isFile(),
      () => false,
    );
    const isExecutable = await access(file, constants.X_OK).then(
      () => isFile,
      () => false,
    );
    if (isExecutable) return file;
  }
  return undefined;
}

/** Matches the root of an installed package: `…/node_modules/npm`, `…/node_modules/@yarnpkg/cli`. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Folders that must be visible for a tool to run: the one where it was found, and its package. */
export async function foldersOfTool(file: string): Promise<string[]> {
  const real = await realpath(file);
  return [dirname(file), PACKAGE.exec(real)?.[0] ?? dirname(real)];
}
