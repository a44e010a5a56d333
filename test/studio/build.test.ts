import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const BUILD = resolve(import.meta.dirname, '../../dist/studio');

test('Studio has at most 3.2 MB, 1.2 MB of the package, and 180 kB of JavaScript for its first screen', () => {
  const files = globSync('**/*.*', { cwd: BUILD }).filter((path) => !/\.(br|gz)$/.test(path));
  const bytes = files.reduce((sum, path) => sum + statSync(join(BUILD, path)).size, 0);
  const scripts = readFileSync(join(BUILD, 'index.html'), 'utf8').match(/[^"]+\.js(?=")/g) ?? [];
  const first_bytes = scripts.reduce(
    (sum, path) => sum + gzipSync(readFileSync(join(BUILD, path))).length,
    0,
  );
  // As npm packs the files.
  const contents = Buffer.concat(files.map((path) => readFileSync(join(BUILD, path))));
  const packed_bytes = gzipSync(contents, { level: 9 }).length;
  process.stdout.write(`Studio: ${bytes} bytes, ${packed_bytes} packed, ${first_bytes} at first\n`);
  expect(scripts.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(3_200_000);
  expect(packed_bytes).toBeLessThan(1_200_000);
  expect(first_bytes).toBeLessThan(180_000);
});

test('a new build replaces the served one at once', async () => {
  const builder = spawn(process.execPath, [join(BUILD, '../../studio/build.mjs')], { stdio: 'ignore' });
  let isBuilding = true;
  const built = new Promise<number | null>((resolve) => builder.once('exit', resolve));
  void built.then(() => {
    isBuilding = false;
  });
  let [looks, missing] = [0, 0];
  for (; isBuilding; await setImmediate()) {
    looks += 1;
    if (!existsSync(join(BUILD, 'index.html'))) missing += 1;
  }
  expect(await built).toBe(0);
  // Between two renames, on a machine that is busy meanwhile; a build takes seconds.
  expect(missing / looks).toBeLessThan(0.05);
});
