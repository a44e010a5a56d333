import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogLine } from '../../src/core/logger.ts';
import { findCompiler } from '../../src/graphs/project/compiler.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { naming } from '../support/naming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

/** Shaped as a graph of LangGraph; it needs no package, for the project has none. */
const GRAPH = `
  export const graph = { lg_is_pregel: true, stream() {}, getState() {}, streamChannels: ['topic'] };`;

/** A project with a `typescript` of its own that is nothing but this module. */
async function withTypeScript(source: string) {
  const root = await mkdtemp(join(tmpdir(), 'agent-server-compiler-'));
  await mkdir(join(root, 'node_modules/typescript'), { recursive: true });
  await writeFile(join(root, 'node_modules/typescript/index.js'), source);
  await writeFile(join(root, 'graph.mjs'), GRAPH);
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

test('schemas are extracted with the TypeScript of the project', async () => {
  await using project = await withTypeScript(`module.exports = { version: '5.4.5', createProgram() {} };`);
  expect(findCompiler(project.root)?.version).toBe('5.4.5');
});

test.each([
  ['has no API, as of version 7', `module.exports = { version: '7.0.2' };`],
  ['is too old', `module.exports = { version: '4.9.5', createProgram() {} };`],
  ['does not load', `throw new Error('broken');`],
])("a project's TypeScript that %s is replaced by that of the server", async (_, source) => {
  await using project = await withTypeScript(source);
  expect(findCompiler(project.root)?.version).toMatch(/^6\./);
});

test('a compiler that crashes its process causes inexact schemas and one warning', async () => {
  await using project = await withTypeScript(
    `module.exports = { version: '5.4.5', createProgram() {}, findConfigFile() { process.exit(7); }, sys: {} };`,
  );
  const log: LogLine[] = [];
  const graphs = await loadGraphs([{ graph_id: 'it', path: './graph.mjs', export: 'graph' }], {
    root: project.root,
    logger: recordingLogger('warn', (line) => log.push(line)),
    types: { cache: join(project.root, 'cache'), signal: new AbortController().signal },
  });
  const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
  expect(await graph.schemas()).toMatchObject({ state_schema: { properties: { topic: {} } } });
  expect(await graph.schemas()).toMatchObject({ context_schema: null });
  expect(log).toMatchObject([{ fields: { reason: naming('code 7') } }]);
});
