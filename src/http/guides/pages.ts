import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lazy } from '../../core/lazy.ts';

/** The guides of this package, in the repository as in the package. */
const FOLDER = resolve(import.meta.dirname, '../../../docs');

/** A file of the guides by its path below their folder; undefined when there is none. Nothing else can be read. */
export async function guideFile(path: string): Promise<Buffer | undefined> {
  return (await names()).has(path) ? readFile(join(FOLDER, path)) : undefined;
}

/** An installation may leave the pages out. */
const names = lazy(async () => {
  const found = await readdir(FOLDER, { recursive: true }).catch(() => []);
  return new Set(found.filter((name) => /\.(md|svg)$/.test(name)));
});
