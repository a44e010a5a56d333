import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lazy } from '../../core/lifecycle.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import { contentsOf } from './contents.ts';
import type { Guide } from './search.ts';

const FOLDER = join(PACKAGE_ROOT, 'docs');

/** Paths of the guides and their pictures, relative to their folder; an installation may omit them. */
export const guideNames = lazy(async () => {
  const found = await readdir(FOLDER, { recursive: true }).catch(() => []);
  return new Set(found.filter((name) => /\.(md|svg|png)$/.test(name)));
});

/** Reads a guide or a picture by its path, or returns `undefined`. The allowlist of names prevents path traversal. */
export async function readGuide(path: string): Promise<Buffer | undefined> {
  return (await guideNames()).has(path) ? readFile(join(FOLDER, path)) : undefined;
}

/** The table of contents. */
export const guideContents = lazy(async () => contentsOf((await readGuide('README.md'))?.toString() ?? ''));

/** What a search looks through: all but the table of contents, which has the words of every page. */
export async function searchedGuides(): Promise<Guide[]> {
  const paths = [...(await guideNames())].filter((name) => name.endsWith('.md') && name !== 'README.md');
  return Promise.all(paths.map(async (path) => ({ path, markdown: String(await readGuide(path)) })));
}
