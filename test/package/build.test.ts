import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle, ENTRY_POINTS } from '../../build.ts';
import { command } from './command.ts';
import { emptyFolder } from './pack.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let folder: Awaited<ReturnType<typeof emptyFolder>>;
let built: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  folder = await emptyFolder();
  built = await bundle(join(folder.path, 'dist'));
  for (const name of ['package.json', 'node_modules'])
    await symlink(join(ROOT, name), join(folder.path, name));
});

afterAll(() => folder[Symbol.asyncDispose]());

interface Importing {
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
}

/** The libraries that a file loads at once, itself or by a file that it imports. */
function libraries(files: Readonly<Record<string, Importing>>, entry: string): string[] {
  const loaded = new Set([entry]);
  const found = new Set<string>();
  for (const file of loaded)
    for (const { path, kind, external } of (files[file] as Importing).imports)
      if (kind === 'import-statement' && path !== '<runtime>') (external ? found : loaded).add(path);
  return [...found].sort();
}

test.each(ENTRY_POINTS)('the built %s loads the same libraries at startup as its source', (path) => {
  const fromSource = libraries(built.inputs, `src/${path}.ts`);

  expect(fromSource).not.toEqual([]);
  expect(libraries(built.outputs, `dist/${path}.js`)).toEqual(fromSource);
});

test('an error of the built server is logged with its source line and class', async () => {
  const program = join(folder.path, 'embedding.mjs');
  await writeFile(
    program,
    `import { loadConfig, logger } from './dist/index.js';
     const log = logger('info', process.stdout);
     await loadConfig({ cwd: '/' }).catch((error) => log.error(error.constructor.name, { error }));`,
  );
  const { message, error } = JSON.parse(await command(process.execPath, [program], { cwd: folder.path }));

  expect(message).toBe('ConfigError');
  const [, file = '', line] = /\((file:\S+\/src\/\S+):(\d+):\d+\)/.exec(error) ?? [];
  expect(file).toMatch(/\/src\/config\/load\.ts$/);
  const source = await readFile(join(ROOT, 'src/config/load.ts'), 'utf8');
  expect(source.split('\n')[Number(line) - 1]).toContain('new ConfigError(');
});

test('the built command line works and finds the files of its package', async () => {
  const program = `const { main } = await import('./dist/cli/main.js'); process.exitCode = await main(['version'])`;
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

  const args = ['--input-type=module', '--eval', program];
  expect(await command(process.execPath, args, { cwd: folder.path })).toBe(`${version}\n`);
});
