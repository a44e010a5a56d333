import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { importedFiles } from '../../src/cli/dev/file-watcher.ts';
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
