import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { project } from '../support/project.ts';
import { filesOf, ROOT } from './blocks.ts';

const PAGES = [
  'docs/nextjs.md',
  ...readdirSync(join(ROOT, 'docs/recipes')).map((name) => `docs/recipes/${name}`),
];
/** What the pages leave to their readers. */
const OF_THE_READER = {
  'model.ts': 'export declare const model: any, answer: any, summary: any;',
  'graph.ts': 'export declare const graph: any;',
  'auth.ts': 'export declare const auth: () => Promise<{ user?: { id?: string } } | null>;',
};
/** Its own types are checked with the sources. */
const PACKAGE = { 'agent-server.d.ts': "declare module 'agent-server';" };
const OPTIONS = {
  target: 'es2024',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2024', 'dom', 'dom.iterable', 'esnext.array'],
  jsx: 'react-jsx',
  strict: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  types: ['node'],
  moduleDetection: 'force',
  paths: { '@acme/shared': ['./recipes/monorepo/packages/shared/src/index.ts'] },
};

test('the programs of the recipes and of the guide for Next.js type-check, with strict options', async () => {
  const files = PAGES.flatMap((page) => {
    const folder = page.replace(/^docs\/|\.md$/g, '');
    const named = Object.entries({ ...OF_THE_READER, ...filesOf(page) });
    return named
      .filter(([name]) => /\.tsx?$/.test(name))
      .map(([name, text]) => [
        join(folder, name),
        text.replaceAll("'@/", `'${'../'.repeat(name.split('/').length - 1) || './'}`),
      ]);
  });
  const tsconfig = JSON.stringify({ compilerOptions: OPTIONS, include: ['**/*.ts', '**/*.tsx'] });
  await using folder = await project({ ...Object.fromEntries(files), 'tsconfig.json': tsconfig, ...PACKAGE });

  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const checked = promisify(execFile)(compiler, ['-p', folder.root], { cwd: folder.root });
  expect(await checked.catch(({ stdout }) => stdout)).toMatchObject({ stdout: '' });
  expect(files.length).toBeGreaterThan(40);
});
