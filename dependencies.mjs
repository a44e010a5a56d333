// npm runs this after it has changed the packages of the repository itself, and never in a project that installs the
// package, as it would `prepare`. Plain JavaScript: the Node may be an old one.
import { readFileSync, writeFileSync } from 'node:fs';

// Without `gypfile: false`, npm 10 compiles better-sqlite3, although the package brings its binaries. npm does not
// write the field into a lock file (npm/cli#9837).
const file = new URL('package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const entry = lock.packages['node_modules/better-sqlite3'];
if (entry.gypfile !== false) {
  entry.gypfile = false;
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

await import('./studio/build.mjs');
