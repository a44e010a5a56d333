import { readFileSync } from 'node:fs';

/** The version of this package; `package.json` is two folders up from `src/config` and from `dist/config` alike. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
