import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ignoredPersistenceNote } from '../../src/cli/project-checks.ts';
import { openApp } from '../support/app.ts';
import { startServer } from '../support/server.ts';
import { filesOf, inProgram, NODE, onlyBlock, ROOT } from './blocks.ts';
import { projectOf } from './project-of.ts';
import { started } from './started.ts';

const PAGE = 'docs/install.md';

test('docs/install.md: an existing project with the added files passes `check` and is served', async () => {
  await using folder = await projectOf(PAGE, { 'agent.config.yaml': onlyBlock(PAGE, 'yaml', 'graphs:') });
  const check = `${NODE} ${ROOT}/bin/agent-server.mjs check --config ${folder.path('agent.config.yaml')}`;
  const printed = onlyBlock(PAGE, 'text', 'ok ');
  expect((await inProgram('bash', ['-s'], check, '')).trim()).toBe(printed.trim());

  await using app = await openApp({ graphs: ['agent'], folder: folder.root });
  const { body } = await app.post('/runs/wait', { assistant_id: 'agent', input: { messages: 'Hello' } });
  expect(body.messages.at(-1).content).toBe('You said: Hello');
});

test('docs/install.md: a program of your own serves and stops', async () => {
  await using folder = await projectOf(PAGE, { 'agent.config.yaml': onlyBlock(PAGE, 'yaml', 'graphs:') });
  await using server = await started(
    `cd ${folder.root} && LANGCHAIN_CALLBACKS_BACKGROUND=false exec ${NODE} serve.ts`,
  );

  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
});

test('docs/install.md: names the files that `init` creates', async () => {
  await using folder = await projectOf(PAGE);
  const page = await readFile(join(ROOT, PAGE), 'utf8');
  const output = await inProgram(
    NODE,
    [join(ROOT, 'bin/agent-server.mjs'), 'init', folder.path('new')],
    '',
    '',
  );
  const created = [...output.matchAll(/^ +created +(\S+)$/gm)].map(([, name = '']) => name);
  const [, table = ''] = /\| file \| what it is \|\n([\s\S]*?)\n\n/.exec(page) ?? [];
  const named = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]);

  expect(named.map(([, name]) => name).sort()).toEqual(created.sort());
});

test('docs/install.md: .gitignore is that of a new project', async () => {
  const own = await readFile(join(ROOT, '.gitignore'), 'utf8');
  const lines = onlyBlock(PAGE, 'gitignore', '.env').trim().split('\n');
  expect(lines.filter((line) => !own.split('\n').includes(line))).toEqual([]);
});

/** A graph with a checkpointer of its own, and what it remembers. */
const OLD_AGENT = `import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
export const checkpointer = new MemorySaver();
export const graph = new StateGraph(Annotation.Root({ text: Annotation(), answer: Annotation() }))
  .addNode('draft', ({ text }) => ({ text: 'draft of ' + text }))
  .addNode('approve', () => ({ answer: interrupt('Send it?') }))
  .addEdge(START, 'draft').addConditionalEdges('draft', ({ text }) => (text.endsWith('note') ? END : 'approve'))
  .addEdge('approve', END).compile({ checkpointer });
for (const text of ['note', 'mail']) await graph.invoke({ text }, { configurable: { thread_id: text } });
`;

test('docs/checkpointers.md: threads move from a checkpointer of your own', async () => {
  await using folder = await projectOf('docs/checkpointers.md', {
    'agent.config.yaml': 'graphs: { agent: ./old-agent.ts:graph }',
    'old-agent.ts': OLD_AGENT,
  });
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const script = (filesOf('docs/checkpointers.md')['move-threads.ts'] ?? '').replace(
    'http://127.0.0.1:8123',
    server.url,
  );
  await folder.write({ 'move-threads.ts': script });
  const output = await inProgram('bash', ['-s'], `cd ${folder.root} && ${NODE} move-threads.ts`, '');
  expect(output).toMatch(/^note -> \S+ done$/m);
  const [, mail = ''] = /^mail -> (\S+) asks$/m.exec(output) ?? [];

  expect(await server.client.threads.get(mail)).toMatchObject({ metadata: { former_id: 'mail' } });
  expect(await server.client.runs.wait(mail, 'agent', { command: { resume: 'yes' } })).toEqual({
    text: 'draft of mail',
    answer: 'yes',
  });
});

test('docs/checkpointers.md quotes the note of `check` about a graph with its own checkpointer', () => {
  const note = onlyBlock('docs/checkpointers.md', 'text', 'note ').split('\n')[1] ?? '';
  expect(note).toContain(ignoredPersistenceNote(['checkpointer']));
});
