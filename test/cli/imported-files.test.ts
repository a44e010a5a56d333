import { mkdir, symlink } from 'node:fs/promises';
import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { FileWatcher, importedFiles } from '../../src/cli/dev/file-watcher.ts';
import { project } from '../support/project.ts';

test('dev watches imports by the paths of a tsconfig.json, also if what it extends is not installed', async () => {
  await using folder = await project({
    'tsconfig.json': '{"extends": "@tsconfig/absent", "compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
    'src/agent.ts': "import { word } from '@/words/word';",
    'src/words/word.ts': "import './other.js';",
    'src/words/other.ts': '',
  });

  const files = await importedFiles([folder.path('src/agent.ts')], folder.root);

  expect([...files].map((file) => relative(folder.root, file))).toEqual([
    'src/agent.ts',
    'src/words/word.ts',
    'src/words/other.ts',
  ]);
});

test('dev watches a package of the same monorepo, and no installed one', async () => {
  await using folder = await project({
    'apps/agent/src/agent.ts': "import '@acme/shared';\nimport 'zod';\nimport '../../more.ts';",
    'apps/more.ts': '',
    'packages/shared/package.json': '{"name": "@acme/shared", "exports": "./src/index.ts"}',
    'packages/shared/src/index.ts': '',
  });
  await mkdir(folder.path('apps/agent/node_modules/@acme'), { recursive: true });
  await symlink(folder.path('packages/shared'), folder.path('apps/agent/node_modules/@acme/shared'));

  const files = await importedFiles([folder.path('apps/agent/src/agent.ts')], folder.path('apps/agent'));

  expect([...files].map((file) => relative(folder.root, file)).sort()).toEqual([
    'apps/agent/src/agent.ts',
    'apps/more.ts',
    'packages/shared/src/index.ts',
  ]);
});

test('dev watches a project whose folder is a link', async () => {
  await using folder = await project({ 'real/agent.ts': "import './word.ts';", 'real/word.ts': '' });
  await symlink(folder.path('real'), folder.path('link'));

  const files = await importedFiles([folder.path('link/agent.ts')], folder.path('link'));

  expect(files).toContain(folder.path('real/word.ts'));
});

test('dev notices a file whose folder did not exist', async () => {
  await using folder = await project({ 'src/agent.ts': "import './tools/web/search.ts';" });
  using watcher = new FileWatcher();
  const watch = async () => watcher.watch(await importedFiles([folder.path('src/agent.ts')], folder.root));

  for (const part of ['src/tools', 'src/tools/web']) {
    await watch();
    await mkdir(folder.path(part));
    expect(await watcher.next()).toBe(folder.path(part));
  }
  await watch();
  await folder.write({ 'src/tools/web/search.ts': '' });
  expect(await watcher.next()).toBe(folder.path('src/tools/web/search.ts'));
});
