import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type Project, project } from '../support/project.ts';
import { until } from '../support/until.ts';

const CONFIG = 'graphs: { waits: ./waits.mjs:graph }\nhosts: { count: 2 }\n';

const WAIT = `import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  export async function wait(gate, name) {
    writeFileSync(gate + '.' + name, '');
    while (!existsSync(gate)) await sleep(20);
  }`;

/** Says that it has begun, waits for a file, and ends with its process. */
const WAITS = `import { Annotation, StateGraph } from '@langchain/langgraph';
  import { wait } from './wait.mjs';
  const State = Annotation.Root({ gate: Annotation(), name: Annotation(), pid: Annotation() });
  export const graph = new StateGraph(State)
    .addNode('wait', async ({ gate, name }) => {
      await wait(gate, name);
      return { pid: process.pid };
    })
    .addEdge('__start__', 'wait').compile();`;

const APP = `import { Hono } from 'hono';
  import { wait } from './wait.mjs';
  export const app = new Hono().get('/own/:name', async (c) => {
    await wait(c.req.query('gate'), c.req.param('name'));
    return c.json(process.pid);
  });`;

const NAMES = ['a', 'b', 'c', 'd'];

const files = (config = '') =>
  project({ 'agent.config.yaml': CONFIG + config, 'wait.mjs': WAIT, 'waits.mjs': WAITS, 'app.mjs': APP });

/** A server whose two hosts take work. */
async function open({ root }: Project) {
  const server = await openApp({ graphs: ['waits'], folder: root });
  await until('both hosts are ready', async () => (await server.get('/info')).body.server.hosts.ready === 2);
  return server;
}

const allBegan = (gate: string) =>
  until('all have begun', () => NAMES.every((name) => existsSync(`${gate}.${name}`)));

test('runs that start at once are spread over the hosts', async () => {
  await using code = await files();
  await using server = await open(code);
  const gate = code.path('gate');
  const runs = NAMES.map((name) =>
    server.post('/runs/wait', { assistant_id: 'waits', input: { gate, name } }),
  );
  await allBegan(gate);
  await writeFile(gate, '');
  const pids = (await Promise.all(runs)).map(({ body }) => body.pid as number);
  const counts = [...Map.groupBy(pids, (pid) => pid).values()].map(({ length }) => length);
  expect(counts).toEqual([2, 2]);
});

test('a thread keeps its host while requests of the custom app wait there', async () => {
  await using code = await files('http: { app: "./app.mjs:app" }\n');
  await using server = await open(code);
  const opened = code.path('opened');
  const gate = code.path('gate');
  await writeFile(opened, '');
  const run = async (path: string, file: string) =>
    (await server.post(path, { assistant_id: 'waits', input: { gate: file, name: 'run' } })).body.pid;
  const { thread_id } = (await server.post('/threads', {})).body;

  // Keeps the other host busy, so that the thread begins in the one that serves the app.
  const other = run('/runs/wait', gate);
  await until('it has begun', () => existsSync(`${gate}.run`));
  const first = await run(`/threads/${thread_id}/runs/wait`, opened);
  const requests = NAMES.map((name) => server.get(`/own/${name}?gate=${encodeURIComponent(gate)}`));
  await allBegan(gate);
  const next = await run(`/threads/${thread_id}/runs/wait`, opened);

  await writeFile(gate, '');
  expect(await other).not.toBe(first);
  expect((await Promise.all(requests)).map(({ body }) => body)).toEqual(NAMES.map(() => first));
  expect(next).toBe(first);
});
