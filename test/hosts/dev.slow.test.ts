import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { developing } from '../support/developing.ts';
import { type Project, project } from '../support/project.ts';
import { until } from '../support/until.ts';

/** Says the word of another file; waits first if it is told to. */
const GRAPH = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { word } from './word.js';
const State = Annotation.Root({ gate: Annotation(), said: Annotation() });
export const graph = new StateGraph(State)
  .addNode('say', async ({ gate }, { writer }) => {
    if (gate) {
      writeFileSync(gate + '.waits', '');
      writer('waits');
      while (!existsSync(gate)) await sleep(20);
    }
    return { said: word };
  })
  .addEdge(START, 'say').addEdge('say', END).compile();
`;
const FILES = {
  'agent.config.yaml':
    'graphs: { talker: "./src/talker.ts:graph" }\nserver: { port: 0 }\nhosts: { count: 2 }\n',
  'src/talker.ts': GRAPH,
  'src/word.ts': "export const word = 'old';",
};

test('in dev, changed code is served without a restart of the server: streams continue, and their runs end', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const gate = join(folder.root, 'gate');
  const events: string[] = [];
  const stream = (async () => {
    const input = { gate };
    for await (const { event, data } of server.client.runs.stream(null, 'talker', {
      input,
      streamMode: ['custom', 'updates'],
    }))
      if (event !== 'metadata') events.push(JSON.stringify(data));
  })();
  await until('the run waits', () => existsSync(`${gate}.waits`));

  await folder.write({ 'src/word.ts': "export const word = 'new';" });
  await until('change loaded', () => server.lines.some((line) => line.includes('change loaded')));
  expect(await server.client.runs.wait(null, 'talker', { input: {} })).toMatchObject({ said: 'new' });

  await folder.write({ gate: '' });
  await stream;
  expect(events).toEqual(['"waits"', '{"say":{"said":"old"}}']);
  expect(server.restarts()).toBe(0);
});

test('in dev, code that ends its process or loses a graph leaves the previous code in place until it is fixed', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const said = () => server.client.runs.wait(null, 'talker', { input: {} });
  const refusals = () => server.lines.filter((line) => line.includes('cannot load the change'));

  await folder.write({ 'src/word.ts': "export const word = 'broken'; process.exit(3);" });
  await until('the end of the process is logged', () => refusals().length === 1);
  expect(refusals()[0]).toMatch(/with code 3: .*process\.exit\(3\) at .*src\/word\.ts:1:/);
  expect(server.lines.filter((line) => line.includes('ends the graph host')).length).toBeGreaterThan(0);
  expect(server.lines.filter((line) => line.includes('ends the server'))).toEqual([]);
  await folder.write({ 'src/word.ts': 'export const word = (;' });
  await until('the syntax error is logged', () => refusals().length === 2);
  expect(server.lines.filter((line) => line.includes("Graph 'talker' failed to load"))).toHaveLength(1);
  expect(await said()).toMatchObject({ said: 'old' });
  await folder.write({
    'src/word.ts': "export const word = 'mended';",
    'src/talker.ts': GRAPH.replace('export const graph', 'export const renamed'),
  });
  await until('the missing export is logged', () => refusals().length === 3);
  expect(await said()).toMatchObject({ said: 'old' });
  expect(server.lines.filter((line) => line.includes('change loaded'))).toEqual([]);
  await folder.write({ 'src/talker.ts': GRAPH });
  await expect.poll(said, { interval: 200, timeout: 60_000 }).toMatchObject({ said: 'mended' });
  expect(server.restarts()).toBe(0);
});

test('in dev, code that loops as it is loaded holds up neither the next change nor the end', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const linesOf = (text: string) => server.lines.filter((line) => line.includes(text));
  const looping = "export const word = 'looping';\nwhile (true);";

  await folder.write({ 'src/word.ts': looping });
  await until('the loop is logged', () =>
    linesOf('the change is still loading').some((line) => line.includes('src/word.ts:2:')),
  );
  await folder.write({ 'src/word.ts': "export const word = 'mended';" });
  await until('change loaded', () => linesOf('change loaded').length > 0);
  expect(await server.client.runs.wait(null, 'talker', { input: {} })).toMatchObject({ said: 'mended' });
  expect(linesOf('cannot load the change')).toEqual([]);

  await folder.write({ 'src/word.ts': looping });
  await until('the change is loading', () => linesOf('changed, reloading').length === 3);
  server.child.kill('SIGINT');
  await until('dev has ended', () => server.child.exitCode !== null);
  expect(server.child.exitCode).toBe(0);
});

test('in dev, a change of the custom routes restarts the server', async () => {
  const app = (path: string) => `
    import { Hono } from 'hono';
    export const app = new Hono().get('${path}', (c) => c.text('hello'));`;
  await using folder = await project({
    ...FILES,
    'agent.config.yaml': `${FILES['agent.config.yaml']}http: { app: "./src/app.ts:app" }\n`,
    'src/app.ts': app('/old'),
  });
  await using server = await developing(folder);
  await folder.write({ 'src/app.ts': app('/new') });
  await until('the server has restarted', () => server.restarts() === 1);
  expect(await (await fetch(`${server.url}/new`)).text()).toBe('hello');
});

test('in dev, a change of the configuration restarts the server', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const config = FILES['agent.config.yaml'].replace('{ talker', '{ other: "./src/talker.ts:graph", talker');
  await folder.write({ 'agent.config.yaml': config });
  await until('the server has restarted', () => server.restarts() === 1);
  expect(await server.client.runs.wait(null, 'other', { input: {} })).toMatchObject({ said: 'old' });
});

/** Prints to both outputs, between two turns of the event loop; or ends its process. */
const DEMO = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ act: Annotation() });
export const graph = new StateGraph(State)
  .addNode('work', async ({ act }) => {
    if (act === 'exit') process.exit(3);
    for (let n = 1; n <= 20; n++) {
      (n % 2 === 0 ? console.log : console.error)('line', n);
      if (n % 5 === 0) await new Promise(setImmediate);
    }
    return {};
  })
  .addEdge(START, 'work').addEdge('work', END).compile();
`;

describe('in dev without any configuration but the graph', () => {
  let folder: Project;
  let server: Awaited<ReturnType<typeof developing>>;

  beforeAll(async () => {
    const config = 'graphs: { demo: "./src/demo.ts:graph" }\nserver: { port: 0 }\n';
    folder = await project({ 'agent.config.yaml': config, 'src/demo.ts': DEMO });
    server = await developing(folder);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test('what a node prints to both outputs appears in order', async () => {
    await server.client.runs.wait(null, 'demo', { input: { act: 'print' } });
    const printed = () => server.lines.flatMap((line) => /\bline (\d+)/.exec(line)?.[1] ?? []).map(Number);
    await until('all lines are there', () => printed().length === 20);

    expect(printed()).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test('process.exit ends the run of the node, which the log and the error name, and not the server', async () => {
    const { thread_id } = await server.client.threads.create();
    const { run_id } = await server.client.runs.create(thread_id, 'demo', { input: { act: 'exit' } });
    await until('the run has ended', async () => {
      return (await server.client.runs.get(thread_id, run_id)).status === 'error';
    });

    const ended = server.lines.filter((line) => line.includes('a graph host ended'));
    expect(ended.length).toBeGreaterThan(0);
    for (const line of ended) expect(line).toMatch(new RegExp(`work.*process\\.exit\\(3\\).*${run_id}`));
    expect(await server.client.threads.get(thread_id)).toMatchObject({
      error: { error: 'HostLostError', message: expect.stringContaining('"work"') },
    });
    expect(server.restarts()).toBe(0);
  });
});
