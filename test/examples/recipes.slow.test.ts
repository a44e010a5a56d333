import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { onlyBlock } from './blocks.ts';
import { projectOf } from './project-of.ts';
import { KEY, recipe, script } from './recipe.ts';

const SCRIPTED = `
import { AIMessage } from '@langchain/core/messages';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
`;

test('docs/recipes/erase-user-data.md: a user is exported, then erased, and others keep their data', async () => {
  const graph = 'export const graph = { stream() {}, getState() {} };';
  const files = { 'agent.config.yaml': 'graphs: { it: "./it.mjs:graph" }\n', 'it.mjs': graph };
  await using server = await recipe('erase-user-data', { files });
  const { client } = server.server;
  for (const owner of ['ada', 'ada', 'ben']) await client.threads.create({ metadata: { owner } });
  await client.crons.create('it', { schedule: '0 0 1 1 *', input: {}, metadata: { owner: 'ada' } });
  for (const owner of ['ada', 'ben'])
    await client.store.putItem(['memories', owner], 'tea', { text: 'green' });

  const counts = 'ada: 2 threads, 1 crons, 1 items';
  expect(await server.run('user-data.ts', 'export', 'ada')).toContain(`export ${counts}`);
  const exported = JSON.parse(await readFile(server.project.path('ada.json'), 'utf8'));
  expect(exported.threads).toHaveLength(2);
  expect(await server.run('user-data.ts', 'erase', 'ada')).toContain(`erase ${counts}`);

  expect(await client.threads.search()).toMatchObject([{ metadata: { owner: 'ben' } }]);
  expect((await client.store.searchItems(['memories'])).items.map(({ namespace }) => namespace[1])).toEqual([
    'ben',
  ]);
  expect(await client.crons.search()).toEqual([]);
});

test('docs/recipes/images-and-files.md: the model gets an uploaded file, and the state has its id only', async () => {
  const model = `
    import { AIMessage } from '@langchain/core/messages';
    export const model = { invoke: async ([{ content }]) => new AIMessage(content[1].image_url.url) };`;
  await using server = await recipe('images-and-files', {
    files: { 'model.ts': model },
    env: { UPLOADS: 'kept' },
  });
  const picture = randomBytes(300);
  await writeFile(server.project.path('picture.png'), picture);

  const { messages } = JSON.parse(await server.run('ask.ts'));

  expect(messages.at(-1).content).toBe(`data:image/png;base64,${picture.toString('base64')}`);
  expect(messages[0].content).toBe('What is this?');
  const refused = await fetch(`${server.server.url}/files`, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
  });
  expect(refused.status).toBe(401);
});

test('docs/recipes/approve-in-slack.md: a signed button resumes the run, once, and an unsigned one nothing', async () => {
  const sent = Promise.withResolvers<{ channel: string; blocks: { elements: { value: string }[] }[] }>();
  const slack = createServer(async (request, response) => {
    sent.resolve((await json(request)) as never);
    response.end('{"ok":true}');
  }).listen(0, '127.0.0.1');
  await once(slack, 'listening');
  const SLACK_API = `http://127.0.0.1:${(slack.address() as AddressInfo).port}`;
  await using server = await recipe('approve-in-slack', {
    env: { SLACK_API, SLACK_SIGNING_SECRET: 'signs' },
  });

  const thread_id = (await server.run('start.ts')).trim();
  const { channel, blocks } = await sent.promise;
  slack.close();
  const [yes] = blocks[1]?.elements ?? [];
  const body = new URLSearchParams({ payload: JSON.stringify({ actions: [yes] }) }).toString();

  expect(channel).toBe('#approvals');
  expect(await pressed(server.server, body, 'other')).toBe(401);
  expect(await pressed(server.server, body, 'signs')).toBe(200);
  const { client } = server.server;
  await expect
    .poll(async () => (await client.threads.get(thread_id)).values)
    .toMatchObject({ refunded: true });
  const before = await client.runs.list(thread_id);
  expect(await pressed(server.server, body, 'signs')).toBe(200);
  expect(await client.runs.list(thread_id)).toHaveLength(before.length);
});

async function pressed({ url }: TestServer, body: string, secret: string): Promise<number> {
  const time = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': time,
    'x-slack-signature': signature,
  };
  return (await fetch(`${url}/slack/answer`, { method: 'POST', headers, body })).status;
}

test('docs/recipes/stream-final-answer.md: only the tokens of the last node are printed', async () => {
  await using server = await recipe('stream-final-answer');

  expect(await server.run('stream.ts')).toBe('It is open.');
  const nodes = new Set<string>();
  for await (const { event, data } of server.server.client.runs.stream(null, 'answers', {
    input: {},
    streamMode: 'messages-tuple',
  }))
    if (event === 'messages')
      nodes.add((data as unknown as [unknown, { langgraph_node: string }])[1].langgraph_node);
  expect([...nodes]).toEqual(['planner', 'writer']);
});

test('docs/recipes/limit-runs-per-user.md: a second run waits, and its explanation names the limit as shown', async () => {
  await using server = await recipe('limit-runs-per-user');
  const { client, url } = server.server;
  const first = await client.runs.create(null, 'slow', { input: {} });
  await expect.poll(async () => (await explained(url, first.run_id)).attempt).toBe(1);
  const second = await client.runs.create(null, 'slow', { input: {} });

  const shown = onlyBlock('docs/recipes/limit-runs-per-user.md', 'text', 'runs.max_per_owner').trim();
  expect((await explained(url, second.run_id)).summary).toBe(shown);
  for (const { run_id, thread_id } of [second, first]) await client.runs.cancel(thread_id, run_id);
});

async function explained(url: string, run_id: string): Promise<{ summary: string; attempt: number }> {
  const response = await fetch(`${url}/runs/${run_id}/explain`, { headers: { 'x-api-key': KEY } });
  return (await response.json()) as { summary: string; attempt: number };
}

test('docs/recipes/background-progress.md: who comes after the end sees the progress from its beginning', async () => {
  await using server = await recipe('background-progress');
  const [thread_id = '', run_id = ''] = (await server.run('start.ts')).trim().split(' ');
  await server.server.client.runs.join(thread_id, run_id);

  const lines = ['1 of 3: a.pdf', '2 of 3: b.pdf', '3 of 3: c.pdf', 'success', ''];
  expect(await server.run('follow.ts', thread_id, run_id)).toBe(lines.join('\n'));
});

test('docs/recipes/fan-out.md: each topic has a subagent, and the report has what all found', async () => {
  await using server = await recipe('fan-out');

  expect(await server.run('ask.ts')).toBe('3 subagents: All about coffee. All about tea. All about water.\n');
});

test('docs/recipes/rag-with-store.md: the answer is from the documents, and names its source', async () => {
  const model = 'export const answer = async (question, sources) => sources[0]?.text ?? "nothing";';
  await using server = await recipe('rag-with-store', { files: { 'model.ts': model } });
  await server.project.write({
    'hours.md': 'We are open from 10.\n\nOn Sunday we are closed.\n',
    'tea.md': 'Tea is green.\n',
  });

  expect(await server.run('fill.ts', 'hours.md', 'tea.md')).toBe('hours.md: 2 pieces\ntea.md: 1 pieces\n');
  expect(await server.run('ask.ts', 'closed on Sunday?')).toMatch(
    /^On Sunday we are closed\. \[ 'hours\.md'/,
  );
});

test('docs/recipes/monorepo.md: a graph uses a package of the workspace without a build', async () => {
  const page = 'docs/recipes/monorepo.md';
  const files = { 'packages/shared/package.json': onlyBlock(page, 'json', 'exports') };
  await using project = await projectOf(page, {
    ...files,
    'package.json': onlyBlock(page, 'json', 'workspaces'),
  });
  // As the package manager links it.
  await mkdir(project.path('apps/agent/node_modules/@acme'), { recursive: true });
  await symlink(project.path('packages/shared'), project.path('apps/agent/node_modules/@acme/shared'));
  await using server = await startServer({ config: project.path('apps/agent/agent.config.yaml') });

  expect(await server.client.runs.wait(null, 'greeter', { input: { who: 'Ada' } })).toMatchObject({
    said: 'Hello Ada',
  });
});

test('docs/recipes/regression-tests.md: the cases pass with a good agent, and fail with one that searches nothing', async () => {
  const page = 'docs/recipes/regression-tests.md';
  const agent = (calls: string) => `${SCRIPTED}
    import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
    const answer = ({ messages: [{ content }] }) => ({ messages: [
      ...(content.startsWith('Thank') ? [] : [new AIMessage({ content: '', tool_calls: ${calls} })]),
      new AIMessage('From 10 to 16 in Main Street. You are welcome.') ] });
    export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer)
      .addEdge(START, 'answer').addEdge('answer', END).compile();`;
  const cases = { 'cases.json': onlyBlock(page, 'json', 'needs') };
  const search = '[{ name: "search", args: {}, id: "1" }]';
  await using project = await projectOf(page, { ...cases, 'graph.ts': agent(search) });
  const run = () =>
    script(project, ['--test'], { LANGCHAIN_CALLBACKS_BACKGROUND: 'false', AGENT_SERVER_API_KEYS: '' });

  expect(await run()).toMatch(/pass 1\b[\s\S]*fail 0\b/);
  await project.write({ 'graph.ts': agent('[]') });
  await expect(run()).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('When are you open'),
  });
  expect(await readdir(project.root)).toContain('cases.json');
});
