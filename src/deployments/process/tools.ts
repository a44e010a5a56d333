import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The file that a name stands for in a search path. */
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

/** What belongs to an installed package: `…/node_modules/npm`, `…/node_modules/@yarnpkg/cli`. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Folders that must be visible for a tool to run: that of its name, and the package that it belongs to. */
export async function foldersOfTool(file: string): Promise<string[]> {
  const real = await realpath(file);
  return [dirname(file), PACKAGE.exec(real)?.[0] ?? dirname(real)];
}
