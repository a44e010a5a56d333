import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadGraphExport } from '../../src/graphs/project/load.ts';
import { importUserModule } from '../../src/graphs/project/user-module.ts';
import { project as emptyProject } from '../support/project.ts';
import { Conversation, load, projectWithCopies } from './support.ts';

/** A project elsewhere on the machine with a copy of LangGraph of its own, but the same `@langchain/core`. */
let project: string;

beforeAll(async () => {
  project = await projectWithCopies(['langgraph']);
  await writeFile(
    join(project, 'graph.mjs'),
    `import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
    export const own = StateGraph;
    export const graph = new StateGraph(Annotation.Root({ answer: Annotation(), item: Annotation() }))
      .addNode('ask', () => ({ answer: interrupt('ok?') }), { ends: ['take'] })
      .addNode('take', ({ item }) => ({ item }))
      .addEdge(START, 'ask')
      .compile();`,
  );
});

afterAll(() => rm(project, { recursive: true, force: true }));

test('a graph built with the project’s own LangGraph runs, interrupts, and accepts commands', async () => {
  const graphs = await load({ own: './graph.mjs:graph' }, project);
  const conversation = new Conversation(await graphs.get('own', { configurable: {} }, 'threads.create_run'));
  const asked = await conversation.dataOf('values', { input: { item: 1 } });
  expect(asked.at(-1)).toMatchObject({ __interrupt__: [{ value: 'ok?' }] });

  const answered = await conversation.dataOf('values', { command: { resume: { yes: true } } });
  expect(answered.at(-1)).toEqual({ item: 1, answer: { yes: true } });
  const goto = [{ node: 'take', input: { item: 2 } }];
  expect((await conversation.dataOf('values', { command: { goto } })).at(-1)).toMatchObject({ item: 2 });
});

test('a library is loaded from the project if installed there, else from the server', async () => {
  const ours = await import('@langchain/langgraph');
  const own = await importUserModule<typeof ours>(project, '@langchain/langgraph');
  expect(own.StateGraph).not.toBe(ours.StateGraph);
  expect(own.StateGraph).toBe((await import(join(project, 'graph.mjs'))).own);

  const nowhere = await importUserModule<typeof ours>(tmpdir(), '@langchain/langgraph');
  expect(nowhere.StateGraph).toBe(ours.StateGraph);
});

test('TypeScript and JavaScript of a project share one copy of LangGraph', async () => {
  await writeFile(
    join(project, 'typed.ts'),
    `import { StateGraph } from '@langchain/langgraph';
    import { graph, own } from './graph.mjs';
    if (own !== StateGraph) throw new Error('two copies');
    export { graph };`,
  );
  const graphs = await load({ typed: './typed.ts:graph' }, project);
  expect([...graphs.loadErrors().values()]).toEqual([]);
});

test.each(['a#b', 'a?b', 'a%20b'])('TypeScript in the folder %s imports packages natively', async (name) => {
  await using folder = await emptyProject({
    [`${name}/node_modules/own/package.json`]: '{"type": "module", "exports": "./own.js"}',
    // jiti defines it in what it evaluates.
    [`${name}/node_modules/own/own.js`]: "export const isNative = typeof module === 'undefined';",
    [`${name}/graph.ts`]: "import { isNative } from 'own';\nexport const graph = () => isNative;",
  });

  const loaded = await loadGraphExport(folder.path(`${name}/graph.ts`), 'graph');

  expect((loaded as { factory: () => boolean }).factory()).toBe(true);
});
