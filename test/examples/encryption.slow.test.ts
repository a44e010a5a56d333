import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { TEST_KEY } from '../support/encryption.ts';
import { blocksOf, inProgram, ROOT } from './blocks.ts';
import { folderWith } from './inside-repository.ts';
import { started } from './started.ts';

const PAGE = 'docs/encryption.md';
const GRAPH = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(Annotation.Root({ n: Annotation<number>() }))
  .addNode('next', ({ n }) => ({ n: n + 1 })).addEdge(START, 'next').addEdge('next', END).compile();
`;

const shell = blocksOf(PAGE).filter(({ language }) => language === 'sh');
const [config] = blocksOf(PAGE).filter(({ language }) => language === 'yaml');
const programs = blocksOf(PAGE).filter(({ language }) => language === 'ts');

const here = (text: string) => text.replaceAll('npx agent-server', 'node bin/agent-server.mjs');

test('docs/encryption.md: a server starts with a generated key', async () => {
  await using server = await started(here(shell[0]?.text ?? ''));
  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
});

test('docs/encryption.md: the commands rotate the key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-'));
  // In a list.
  const change = /^ {3}export LANGGRAPH_AES_FALLBACK_KEYS[^`]*/m.exec(
    await readFile(join(ROOT, PAGE), 'utf8'),
  );
  const script = `export DATABASE_URI=sqlite:${folder}/server.db LANGGRAPH_AES_KEY=${TEST_KEY}
    ${here('npx agent-server migrate')} > /dev/null 2>&1
    ${here(shell[1]?.text ?? '')}
    ${change?.[0]}
    ${here(shell[1]?.text ?? '')}`;
  const output = await inProgram('bash', ['-e', '-s'], script, '');
  expect(output).toMatch(/^nothing to re-encrypt\nserver_secrets: 1\nre-encrypted 1 row .*\n$/);
  await rm(folder, { recursive: true });
});

test.each(programs.map(({ text }) => text))(
  'docs/encryption.md: the handlers encrypt (%#)',
  async (handlers) => {
    await using folder = await folderWith({
      'agent.config.yaml': config?.text ?? '',
      'encryption.ts': handlers,
      'graph.ts': GRAPH,
      keys: `${TEST_KEY}\n`,
    });
    process.env['KEY_FILE'] = join(folder.root, 'keys');
    process.env['OWN_KEY'] = '7'.repeat(64);
    await using server = await openApp({ graphs: ['echo'], folder: folder.root });
    const { thread_id } = (await server.post('/threads', {})).body;
    await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input: { n: 1 } });
    expect((await server.get(`/threads/${thread_id}`)).body.values).toEqual({ n: 2 });
  },
);
