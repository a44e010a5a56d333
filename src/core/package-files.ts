import { extname, join, resolve } from 'node:path';

/** In the package, each source is a part of a file right in `dist`. So no other source depends on the place of its file. */
const IS_BUILT = extname(import.meta.url) === '.js';

/** Root folder of this package. */
export const PACKAGE_ROOT = resolve(import.meta.dirname, IS_BUILT ? '..' : '../..');

/** URL of the folder with the built files, as in stacks; `undefined` when the sources themselves are executed. */
export const BUILD_URL = IS_BUILT ? new URL('.', import.meta.url).href : undefined;

/**
 * File with which a process or thread starts: TypeScript in the repository, JavaScript in the package. `path` is that
 * in `src` without its extension, and an entry point of the build (`build.ts`).
 */
export function programFile(path: string): string {
  return join(PACKAGE_ROOT, IS_BUILT ? 'dist' : 'src', path + extname(import.meta.url));
}
