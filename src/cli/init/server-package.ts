import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { VERSION } from '../../config/version.ts';
import { isObject } from '../../core/json.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';

export const DEPENDENCY_BLOCKS = [
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'optionalDependencies',
] as const;

/** Whether this is a working copy of the repository, not an installed package. */
export function isClone(): boolean {
  return basename(dirname(PACKAGE_ROOT)) !== 'node_modules';
}

/**
 * Dependency spec of this package for the project in `folder`: a `file:` path for a clone, else the spec of the host
 * project, else the version.
 */
export async function serverPackageSpec(folder: string): Promise<string> {
  if (isClone()) return fileSpec(folder, PACKAGE_ROOT);
  const host = resolve(PACKAGE_ROOT, '../..');
  const spec = await specIn(join(host, 'package.json'));
  if (spec === undefined) return `^${VERSION}`;
  return spec.startsWith('file:') ? fileSpec(folder, resolve(host, spec.slice('file:'.length))) : spec;
}

async function specIn(file: string): Promise<string | undefined> {
  const known: unknown = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (!isObject(known)) return undefined;
  const specs = DEPENDENCY_BLOCKS.map((name) => known[name]).map((block) =>
    isObject(block) ? block['agent-server'] : undefined,
  );
  return specs.find((spec) => typeof spec === 'string');
}

/** npm resolves symlinks first: `..` of a linked folder is the parent of its target. */
async function fileSpec(folder: string, to: string): Promise<string> {
  return `file:${relative(await realFolder(folder), await realFolder(to))}`;
}

/** `realpath` that also accepts a path that does not exist yet. */
async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realFolder(dirname(path)), basename(path));
}
