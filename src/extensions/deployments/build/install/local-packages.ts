import { lstat, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { tryOrUndefined } from '../../../../core/failure.ts';
import { isObject } from '../../../../core/json.ts';
import { BuildFailure } from '../build-failure.ts';

const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies'] as const;
const LOCAL = /^(?:file|link|portal):(.+)/;

/**
 * Throws a `BuildFailure` that names a package which package.json takes from a file or folder that is not among the
 * sources. Package managers report only a path of the build. `root`: the sources; `folder`: that of package.json.
 */
export async function requireLocalPackages(root: string, folder: string): Promise<void> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '');
  const manifest: unknown = tryOrUndefined(() => JSON.parse(text));
  if (!isObject(manifest)) return;
  for (const [name, spec] of KINDS.flatMap((kind) =>
    Object.entries(isObject(manifest[kind]) ? manifest[kind] : {}),
  )) {
    const [, path] = LOCAL.exec(String(spec)) ?? [];
    if (path === undefined || (await isAmong(root, resolve(folder, path)))) continue;
    throw new BuildFailure('install', {
      code: 'local_dependency_missing',
      message: `package.json takes ${name} from ${String(spec)}, which is not among the sources.`,
      hint: 'Put it into the folder that is deployed and change the path, or publish it to a registry.',
    });
  }
}

/** Outside of the sources nothing is looked for: its absence would tell about the files of the server. */
async function isAmong(root: string, path: string): Promise<boolean> {
  if (relative(root, path).split(sep)[0] === '..') return false;
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
