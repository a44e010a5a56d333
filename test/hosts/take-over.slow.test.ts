import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type Project, project } from '../support/project.ts';
import { until } from '../support/until.ts';

/**
 * Each execution of a node is a line of the file `log`: the node and its process. What waits, or computes, does so until the
 * file `gate` exists, and what waits then computes until the file `end` exists, if it has one.
 */
const GRAPHS = `import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({
    gate: Annotation(), end: Annotation(), stores: Annotation(),
    pids: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  });
  const note = ({ gate }, node) => appendFileSync(gate + '.log', node + ' ' + process.pid + '\\n');
  const pids = () => ({ pids: [process.pid] });
  const compute = (file) => { while (!existsSync(file)); };
  export const waits = new StateGraph(State)
    .addNode('before', pids)
    .addNode('wait', async (state, { store }) => {
      note(state, 'wait');
      while (!existsSync(state.gate)) await sleep(5);
      if (state.end) compute(state.end);
      if (state.stores) await store.put(['by'], 'key', { pid: process.pid });
      return pids();
    })
    .addNode('after', (state) => {
      note(state, 'after');
      return pids();
    })
    .addEdge('__start__', 'before').addEdge('before', 'wait').addEdge('wait', 'after').compile();
  export const computes = new StateGraph(State)
    .addNode('compute', (state) => {
      note(state, 'compute');
      compute(state.gate);
      return pids();
    })
    .addEdge('__start__', 'compute').compile();`;

let code: Project;
let server: Awaited<ReturnType<typeof openApp>>;

/** One host, and another only once that is blocked. */
beforeEach(async () => {
  code = await project({
    'agent.config.yaml':
      'graphs: { waits: "./graphs.mjs:waits", computes: "./graphs.mjs:computes" }\nhosts: { count: auto }\n',
    'graphs.mjs': GRAPHS,
  });
  server = await openApp({ graphs: ['waits', 'computes'], folder: code.root });
  await server.post('/runs/wait', {
    assistant_id: 'computes',
    input: { gate: code.path('agent.config.yaml') },
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await code[Symbol.asyncDispose]();
});

/** Starts a run; resolves once its node executes. */
async function started(assistant_id: 'waits' | 'computes', gate: string, more: object = {}) {
  const path = code.path(gate);
  const thread_id = await server.thread();
  const input = { gate: path, ...more };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, { assistant_id, input, ...more })).body;
  const lines = () =>
    existsSync(`${path}.log`)
      ? readFileSync(`${path}.log`, 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' ') as [string, string])
      : [];
  await until('it executes', () => lines().length > 0);
  return {
    thread_id,
    run_id,
    path,
    /** Processes that executed a node. */
    pidsOf: (node: string) => lines().flatMap(([name, pid]) => (name === node ? [Number(pid)] : [])),
    open: () => writeFile(path, ''),
    join: async () => (await server.get(`/threads/${thread_id}/runs/${run_id}/join`)).body,
    status: async () => (await server.get(`/threads/${thread_id}/runs/${run_id}`)).body.status,
  };
}

test.each([
  { durability: 'async' },
  { durability: 'sync' },
  { durability: 'exit' },
  { durability: 'async', stores: true },
])(
  'a run that waits in a blocked host continues in another, and nothing of it is executed or written when the host wakes up: %j',
  async ({ durability, stores }) => {
    const waiting = await started('waits', 'waiting', { durability, stores });
    const computing = await started('computes', 'computing');
    await until('another host continues it', () => waiting.pidsOf('wait').length === 2);
    const [blocked, other] = waiting.pidsOf('wait');
    expect(computing.pidsOf('compute')).toEqual([blocked]);
    expect(other).not.toBe(blocked);

    await waiting.open();
    const first = durability === 'exit' ? other : blocked;
    expect(await waiting.join()).toMatchObject({ pids: [first, other, other] });
    await computing.open();
    expect(await computing.join()).toMatchObject({ pids: [blocked] });

    // The host has turned to what waited there before it answers this.
    const next = await started('waits', 'next');
    await next.open();
    await next.join();
    expect(waiting.pidsOf('after')).toEqual([other]);
    const { thread_id, run_id } = waiting;
    expect((await server.get(`/threads/${thread_id}/state`)).body.values.pids).toEqual([first, other, other]);
    if (stores)
      expect((await server.get('/store/items?namespace=by&key=key')).body.value).toEqual({ pid: other });
    expect(
      server.log.filter((line) => line.message === 'run ended' && line.fields['run_id'] === run_id),
    ).toMatchObject([{ fields: { status: 'success', attempt: 1 } }]);
  },
);

test('the run that computes stays in its host, and is executed once', async () => {
  const computing = await started('computes', 'computing');
  const waiting = await started('waits', 'waiting').catch(() => undefined);
  await waiting?.open();
  await waiting?.join();
  await computing.open();
  await computing.join();
  expect(computing.pidsOf('compute')).toHaveLength(1);
});

test('a host whose event loop is blocked by a run that was taken from it is ended', async () => {
  const end = code.path('end');
  const waiting = await started('waits', 'waiting', { end });
  const computing = await started('computes', 'computing');
  await until('another host continues it', () => waiting.pidsOf('wait').length === 2);
  const [blocked] = waiting.pidsOf('wait');

  // Both executions of the node compute from now on: that in the blocked host once it is free.
  await waiting.open();
  await computing.open();
  await computing.join();
  const isEnded = ({ message, fields }: (typeof server.log)[number]) =>
    message === 'a graph host ended' && fields['run_id'] === waiting.run_id && fields['pid'] === blocked;
  await until('its host was ended', () => server.log.some(isEnded));
  await writeFile(end, '');
  expect(await waiting.status()).toBe('running');
  await waiting.join();
  expect(await waiting.status()).toBe('success');
});
