import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { blocksOf, callsOf, inShell } from './blocks.ts';
import { folderWith } from './inside-repository.ts';
import { started } from './started.ts';

const PAGE = 'docs/authentication.md';
const GRAPH = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(Annotation.Root({ n: Annotation<number>() }))
  .addNode('next', ({ n }) => ({ n: n + 1 })).addEdge(START, 'next').addEdge('next', END).compile();
`;

test('docs/authentication.md: a backend creates a token, and a page uses it', async () => {
  await using server = await started('npm start', { AGENT_SERVER_API_KEYS: 'local-key' });
  const [keys, , page] = await inShell(callsOf(PAGE), server.url);
  expect(keys).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(keys?.output).toMatch(/"key":"ask_[\w-]+"[\s\S]*"name":"backend"/);
  expect(page).toMatchObject({ statuses: [200, 200, 200, 403] });
  expect(page?.output).toMatch(/"owner":"jane"[\s\S]*"owner":"jane"[\s\S]*This requires a key with/);
});

test('docs/authentication.md: the handlers accept their users, each for their own rows', async () => {
  const yaml = blocksOf(PAGE).filter(({ language }) => language === 'yaml');
  const config = yaml.find(({ text }) => text.startsWith('graphs:'))?.text ?? '';
  const handlers = blocksOf(PAGE).find(({ language }) => language === 'ts')?.text ?? '';
  const files = { 'agent.config.yaml': config, 'auth.ts': handlers, 'graph.ts': GRAPH };
  await using folder = await folderWith(files);
  await using server = await openApp({ graphs: ['echo'], folder: folder.root });
  const ann = { authorization: 'Bearer token-of-ann' };
  const ben = { authorization: 'Bearer token-of-ben' };

  expect((await server.post('/threads', {})).body).toEqual({ detail: 'Who are you?' });
  const { thread_id } = (await server.post('/threads', {}, ann)).body;
  const run = { assistant_id: 'echo', input: { n: 1 } };
  expect((await server.post(`/threads/${thread_id}/runs/wait`, run, ann)).body).toEqual({ n: 2 });
  expect((await server.post(`/threads/${thread_id}/runs/wait`, run, ben)).status).toBe(404);
  expect((await server.post('/threads/search', {}, ben)).body).toEqual([]);
});
