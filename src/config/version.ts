import { readFileSync } from 'node:fs';

/** Version of this package; `package.json` is two levels above both `src/config` and `dist/config`. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
