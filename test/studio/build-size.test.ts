import { globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const BUILD = resolve(import.meta.dirname, '../../dist/studio');

test('Studio has at most 3 MB, and 180 kB of JavaScript for its first screen', () => {
  const files = globSync('**/*.*', { cwd: BUILD }).filter((path) => !/\.(br|gz)$/.test(path));
  const bytes = files.reduce((sum, path) => sum + statSync(join(BUILD, path)).size, 0);
  const scripts = readFileSync(join(BUILD, 'index.html'), 'utf8').match(/[^"]+\.js(?=")/g) ?? [];
  const first_bytes = scripts.reduce(
    (sum, path) => sum + gzipSync(readFileSync(join(BUILD, path))).length,
    0,
  );
  expect(scripts.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(3_000_000);
  expect(first_bytes).toBeLessThan(180_000);
});
