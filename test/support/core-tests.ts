import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { copySources } from './copied-sources.ts';
import { ALL_EXTENSIONS, without } from './deleted-extensions.ts';

/** What compares a page or a table with the whole server, or tries every way into it. */
const OF_ALL = [
  'config/reference',
  'http/event-loop',
  'http/every-route',
  'http/hostile-json',
  'http/number-bounds',
  'storage/encryption/columns',
];

/** The tests below these folders pass in a copy of the repository without any extension. */
export async function expectCoreTests(folders: readonly string[]): Promise<void> {
  await using sources = await copySources({ tests: true });
  using _removed = without(ALL_EXTENSIONS, sources);
  for (const name of OF_ALL) await rm(join(sources.folder, `test/${name}.test.ts`));
  const vitest = join(sources.folder, 'node_modules/vitest/vitest.mjs');
  const options = ['--project', '!slow*', '--reporter', 'dot', '--maxWorkers', '2'];
  const child = spawn(process.execPath, [vitest, 'run', ...options, ...folders], {
    cwd: sources.folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect([child.exitCode, child.exitCode === 0 ? '' : printed]).toEqual([0, '']);
}

/** Not what belongs to the run of tests that this one is part of. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST_(RESULTS|CPU)$)/.test(name));
  return Object.fromEntries(own);
}
