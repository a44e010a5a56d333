import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { project } from '../support/project.ts';
import { isCompiled } from './block-checks.ts';
import { blocksOf, filesOf, pagesIn, ROOT } from './blocks.ts';

/** What users read. */
const PAGES = pagesIn('docs').filter((page) => isCompiled(page, 'export {}'));
/** What the pages leave to their readers. */
const OF_THE_READER = {
  'model.ts': 'export declare const model: any, answer: any, summary: any;',
  'graph.ts': 'export declare const graph: any;',
  'src/agent.ts': 'export declare const graph: any;',
  'old-agent.ts':
    'import type { MemorySaver, Pregel } from "@langchain/langgraph"; export declare const graph: Pregel<any, any>, checkpointer: MemorySaver;',
  'auth.ts': 'export declare const auth: () => Promise<{ user?: { id?: string } } | null>;',
};
/** Style sheets, which the server bundles, packages that are not installed here, and our own, whose types the build checks. */
const FOREIGN = `
declare module '*.css';
declare module '@langfuse/langchain';
declare module '@langfuse/otel';
declare module '@opentelemetry/sdk-node';
declare module 'agent-server' {
  export type App = any;
  export const createApp: any, loadConfig: any, logger: any, silentLogger: any;
}
`;
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

test('every TypeScript module of the documentation compiles with strict options', async () => {
  const files = PAGES.flatMap((page) => {
    const folder = page.replace(/^docs\/|\.md$/g, '');
    const files = filesOf(page);
    const unnamed = blocksOf(page)
      .filter(({ text }) => isCompiled(page, text) && !Object.values(files).includes(text))
      .map(({ language, text }, index) => [`unnamed-${index}.${language}`, text] as const);
    const named = Object.entries({ ...OF_THE_READER, ...Object.fromEntries(unnamed), ...files });
    return named
      .filter(([name]) => /\.tsx?$/.test(name))
      .map(([name, text]) => [
        join(folder, name),
        text.replaceAll("'@/", `'${'../'.repeat(name.split('/').length - 1) || './'}`),
      ]);
  });
  const tsconfig = JSON.stringify({ compilerOptions: OPTIONS, include: ['**/*.ts', '**/*.tsx'] });
  await using folder = await project({
    ...Object.fromEntries(files),
    'tsconfig.json': tsconfig,
    'foreign.d.ts': FOREIGN,
  });

  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const checked = promisify(execFile)(compiler, ['-p', folder.root], { cwd: folder.root });
  expect(await checked.catch(({ stdout }) => stdout)).toMatchObject({ stdout: '' });
  expect(files.length).toBeGreaterThan(40);
});
