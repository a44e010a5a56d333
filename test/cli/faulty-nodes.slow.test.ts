import { afterAll, beforeAll, expect, test } from 'vitest';
import { developing } from '../support/developing.ts';
import { type Project, project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

/** Nodes that harm the process they run in. */
const GRAPH = `
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ text: z.string().optional() });
const graph = (work: () => void | Promise<void>) => new StateGraph(State)
  .addNode('work', async () => { await work(); return {}; })
  .addEdge(START, 'work').addEdge('work', END).compile();

export const exits = graph(() => {
  process.exit(3);
});
export const rejects = graph(() => {
  void Promise.reject(new Error('left alone'));
  setTimeout(() => { throw new Error('from a timer'); }, 1);
});
export const fails = graph(() => {
  throw new Error('no luck');
});
`;
const NAMES = ['exits', 'rejects', 'fails'];
const CONFIG = `graphs: { ${NAMES.map((name) => `${name}: "./src/harm.ts:${name}"`).join(', ')} }\nserver: { port: 0 }\n`;

let files: Project;
let server: TestServer;

beforeAll(async () => {
  files = await project({ 'agent.config.yaml': CONFIG, 'src/harm.ts': GRAPH });
  server = await startServer({ config: files.path('agent.config.yaml') });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await files?.[Symbol.asyncDispose]();
});

const inNode = (graph: string) => ({
  graph,
  node: 'work',
  run_id: expect.stringMatching(/^[\da-f-]{36}$/),
  thread_id: expect.stringMatching(/^[\da-f-]{36}$/),
});

test('an unhandled rejection of a node is logged with its run, graph and node', async () => {
  const rejected = server.untilLog('unhandled rejection in a node; its run is not affected');
  const thrown = server.untilLog('uncaught exception in a node; its run is not affected');
  await server.client.runs.wait(null, 'rejects', { input: {} });

  expect(await rejected).toMatchObject({
    ...inNode('rejects'),
    error: expect.stringContaining('left alone'),
  });
  expect(await thrown).toMatchObject({
    ...inNode('rejects'),
    error: expect.stringContaining('from a timer'),
  });
});

test('a node that ends the process is logged before the process exits', async () => {
  const ended = server.untilLog('a node called process.exit, which ends the server');
  const { thread_id } = await server.client.threads.create();
  await server.client.runs.create(thread_id, 'exits', { input: {} });

  expect(await ended).toMatchObject({
    ...inNode('exits'),
    thread_id,
    error: expect.stringContaining('src/harm.ts:10:'),
  });
  expect(await server.exited()).toBe(3);
});

test('in dev without graph hosts, a server that a node ended restarts by itself, and the run fails after its last attempt', async () => {
  await using files = await project({
    'agent.config.yaml': `${CONFIG}hosts: { count: 0 }\nruns: { max_attempts: 1 }\n`,
    'src/harm.ts': GRAPH,
  });
  await using dev = await developing(files);
  const { thread_id } = await dev.client.threads.create();
  const { run_id } = await dev.client.runs.create(thread_id, 'exits', { input: {} });
  await until('the server has restarted', () => dev.restarts() === 1);
  await until('the run has ended', async () => {
    const { status } = await dev.client.runs.get(thread_id, run_id);
    return status === 'error';
  });

  const thread = await dev.client.threads.get(thread_id);
  expect(thread).toMatchObject({ status: 'error', error: { error: 'WorkerLostError' } });
});

test('in dev, a logged failure shows code of the project and only counts frames of packages', async () => {
  await using dev = await developing(files);
  await dev.client.runs.wait(null, 'fails', { input: {}, raiseError: false }).catch(() => {});
  await until('the failure is shown', () =>
    dev.lines.some((line) => line.includes('| ') && line.includes('^')),
  );

  const shown = dev.lines.join('\n');
  expect(shown).toMatch(/run failed .*"graph":"fails".*"node":"work"/);
  expect(shown).toMatch(/> 17 \| {3}throw new Error\('no luck'\);/);
  expect(shown).toMatch(/at .*\(?src\/harm\.ts:17:9\)?/);
  expect(shown).toMatch(/… \d+ frames? of packages/);
});
