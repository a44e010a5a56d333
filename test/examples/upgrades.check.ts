import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { filesOf, inProgram, NODE, onlyBlock } from './blocks.ts';

const PAGE = 'docs/upgrades.md';
const QUESTION = `interrupt({ question: \`Send "\${text}"?\` })`;

/** The graph of the page, with its node under both names; and before and after the rename, under one. */
const BOTH = filesOf(PAGE)['agent.ts'] ?? '';
const NEW = BOTH.split('\n')
  .filter((line) => !line.startsWith("  .addNode('approve'") && !line.startsWith("  .addEdge('approve'"))
  .join('\n')
  .replace("['review', 'approve']", "['review']");
const OLD = NEW.replaceAll("'review'", "'approve'");

/** What becomes of the old graph, by the name that it has here. */
const VERSIONS = {
  renamed: NEW,
  aliased: BOTH,
  'two-questions': OLD.replace(`String(${QUESTION})`, `[${QUESTION}, interrupt('Sure?')].join()`),
  'no-question': OLD.replace(QUESTION, '"nobody was asked"'),
  'other-state': OLD.replace(
    "text: z.string().default('')",
    "text: z.number(), more: z.string().default('new')",
  ),
  'renamed-key': OLD.replaceAll('text', 'words'),
};

let folder: Project;
let server: TestServer;
let client: Client;
/** Threads that wait, by graph: three for each. */
const waiting: Record<string, string[]> = {};

const filesWith = (codeOf: (name: keyof typeof VERSIONS) => string) =>
  Object.fromEntries(
    Object.keys(VERSIONS).map((name) => [`${name}.ts`, codeOf(name as keyof typeof VERSIONS)]),
  );

beforeAll(async () => {
  const graphs = Object.keys(VERSIONS).map((name) => [name, `./${name}.ts:graph`]);
  const config = JSON.stringify({ graphs: Object.fromEntries(graphs) });
  folder = await project({ 'agent.config.yaml': config, ...filesWith(() => OLD) });
  server = await startServer({ config: folder.path('agent.config.yaml') });
  client = server.client;
  for (const name of Object.keys(VERSIONS)) {
    const made = [1, 2, 3].map(async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, name, { input: {} });
      return thread_id;
    });
    waiting[name] = await Promise.all(made);
  }
  await folder.write(filesWith((name) => VERSIONS[name]));
  await server.restart();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

const answer = (name: string, resume: string) =>
  client.runs.wait(waiting[name]?.[0] ?? '', name, { command: { resume } });

test('the two versions of a graph in this test differ as their names say', () => {
  expect([OLD, NEW, BOTH].map((code) => [code.includes("'approve'"), code.includes("'review'")])).toEqual([
    [true, false],
    [false, true],
    [true, true],
  ]);
  expect(new Set([OLD, ...Object.values(VERSIONS)]).size).toBe(7);
});

test('docs/upgrades.md: the answer to a renamed node is lost silently, and the script repairs the thread', async () => {
  const [lost = '', guarded = '', repaired = ''] = waiting['renamed'] ?? [];

  expect(await client.threads.get(lost)).toMatchObject({ status: 'interrupted' });
  expect((await client.threads.getState(lost)).next).toEqual([]);
  expect(await answer('renamed', 'yes')).toMatchObject({ answer: '' });
  expect(await client.threads.get(lost)).toMatchObject({ status: 'idle' });

  expect(await answerStrictly(guarded)).toMatchObject({ __error__: { error: 'UnknownInterruptError' } });
  expect(await client.threads.get(guarded)).toMatchObject({ status: 'interrupted' });

  const script = onlyBlock(PAGE, 'js', 'stranded.mjs');
  const run = (...args: string[]) =>
    inProgram(NODE, ['--input-type=module', '-', server.url, ...args], script, '');
  const found = (await run()).match(/^stranded .*$/gm) ?? [];
  expect(found.sort()).toEqual([guarded, repaired].map((id) => `stranded ${id}`).sort());
  expect(await run('draft')).toMatch(/asks again .*Send \\"Hello\\"\?/);
  expect(await run()).toBe('');
  const resumed = client.runs.wait(repaired, 'renamed', { command: { resume: 'yes' } });
  expect(await resumed).toMatchObject({ answer: 'yes' });
});

async function answerStrictly(thread_id: string): Promise<unknown> {
  const { interrupts } = await client.threads.get(thread_id);
  const [id = ''] = Object.values(interrupts).flatMap((list) => list.map((interrupt) => interrupt.id ?? ''));
  const body = { assistant_id: 'renamed', command: { resume: { [id]: 'yes' } }, strict_resume: true };
  const response = await fetch(`${server.url}/threads/${thread_id}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

test('docs/upgrades.md: a node that keeps its old name is resumed by the new code', async () => {
  expect(await answer('aliased', 'yes')).toMatchObject({ answer: 'yes' });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'aliased', { input: {} });
  expect((await client.threads.getState(thread_id)).next).toEqual(['review']);
});

test('docs/upgrades.md: interrupts and states behave as described', async () => {
  expect(await answer('two-questions', 'one')).toMatchObject({ __interrupt__: [{ value: 'Sure?' }] });
  expect(await answer('two-questions', 'two')).toMatchObject({ answer: 'one,two' });
  expect(await answer('no-question', 'yes')).toMatchObject({ answer: 'nobody was asked' });
  expect(await answer('other-state', 'yes')).toMatchObject({ text: 'Hello', more: 'new', answer: 'yes' });
  expect(await answer('renamed-key', 'yes')).toMatchObject({ words: '', answer: 'yes' });
});
