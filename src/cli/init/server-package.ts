import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isObject } from '../../core/json.ts';

/** The folder of this package. */
export const PACKAGE = resolve(import.meta.dirname, '../../..');

/** Where a project may name its packages. */
export const DEPENDENCY_BLOCKS = [
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'optionalDependencies',
] as const;

/** Not installed, but a working copy of the repository. */
export function isClone(): boolean {
  return basename(dirname(PACKAGE)) !== 'node_modules';
}

/**
 * How the project in `folder` depends on this package: on the folder when this is a clone, as the project that this is
 * installed in does, or by its version.
 */
export async function serverPackageSpec(folder: string): Promise<string> {
  if (isClone()) return fileSpec(folder, PACKAGE);
  const host = resolve(PACKAGE, '../..');
  const spec = await specIn(join(host, 'package.json'));
  if (spec === undefined) {
    const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
    return `^${version}`;
  }
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

/** npm follows links before it goes up: `..` of a linked folder is where the link leads. */
async function fileSpec(folder: string, to: string): Promise<string> {
  return `file:${relative(await realFolder(folder), await realFolder(to))}`;
}

/** Without links, also of what is not there yet. */
async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realFolder(dirname(path)), basename(path));
}
