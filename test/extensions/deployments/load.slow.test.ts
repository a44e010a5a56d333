import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Arrivals, arrivals } from '../../support/arrivals.ts';
import { KEY, openDeploymentServer } from '../../support/deployments.ts';
import { type SseEvent, sseEvents } from '../../support/sse.ts';
import { until } from '../../support/until.ts';

const REQUESTS_A_SECOND = 20;
const STREAMS = 20;

/**
 * Four steps, each of which adds a line to the journal when it is executed: run, revision, number. With a gate, the second and the
 * third end when the files `<gate>-2` and `<gate>-3` exist.
 */
function fourSteps(version: string) {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({
  name: z.any(),
  journal: z.any(),
  gate: z.any(),
  done: z.array(z.string()).default(() => []),
});
async function step({ name, journal, gate, done }) {
  const n = done.length + 1;
  appendFileSync(journal, name + ' ${version}:' + n + '\\n');
  let isOpen = !gate || (n !== 2 && n !== 3);
  while (!isOpen) {
    isOpen = existsSync(gate + '-' + n);
    // Long enough for what the server said before the gate opened to arrive, also on a busy machine.
    await sleep(isOpen ? 1_000 : 5);
  }
  return { done: [...done, '${version}:' + n] };
}
export const graph = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ done }) => (done.length >= 4 ? END : 'step'))
  .compile();
`,
  };
}

type Server = Awaited<ReturnType<typeof openDeploymentServer>>;

/** Files that tell what was executed, and that open the gates. */
const filesOf = ({ folder }: Server) => ({ journal: `${folder}/journal`, gate: `${folder}/gate` });

/** The run that a stream shows: all of its events, until the end of the response. */
async function stream(server: Server, name: string) {
  const thread_id = crypto.randomUUID();
  const response = await fetch(`${server.url}/deployments/busy/threads/${thread_id}/runs/stream`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ assistant_id: 'agent', input: { name, ...filesOf(server) }, if_not_exists: 'create' },
      ...{ stream_mode: 'values', stream_resumable: true },
    }),
  });
  const events: SseEvent[] = [];
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  for await (const event of sseEvents(text)) events.push(event);
  return { status: response.status, thread_id, events };
}

/** Reads, runs in the background (5 a second), and runs that are waited for (2 or 3 a second). */
function load(server: Server, background: Map<string, string>): Arrivals {
  const of = (n: number, more = {}) => ({
    ...{ assistant_id: 'agent', input: { name: `load-${n}`, journal: filesOf(server).journal }, ...more },
  });
  return arrivals(REQUESTS_A_SECOND, async (n) => {
    if (n % 20 === 5) {
      const { status, body } = await server.post('/deployments/busy/runs/wait', of(n));
      return `run: ${status}, ${body?.done?.length} steps`;
    }
    if (n % 10 === 0) {
      const thread_id = crypto.randomUUID();
      background.set(thread_id, `load-${n}`);
      const create = of(n, { if_not_exists: 'create' });
      return `enqueue: ${(await server.post(`/deployments/busy/threads/${thread_id}/runs`, create)).status}`;
    }
    const { status } = await server.post('/deployments/busy/threads/search', { limit: 1 });
    return `search: ${status}`;
  });
}

/** How often each step of each run was executed: `{'stream-1': ['one:1', …]}`, in the order of execution. */
async function executions(server: Server): Promise<Map<string, string[]>> {
  const lines = (await readFile(filesOf(server).journal, 'utf8')).trimEnd().split('\n');
  const byRun = new Map<string, string[]>();
  for (const line of lines) {
    const [name = '', step = ''] = line.split(' ');
    byRun.set(name, [...(byRun.get(name) ?? []), step]);
  }
  return byRun;
}

/** Once so many runs with a gate have reached it in this revision. */
async function atGate(server: Server, step: string): Promise<void> {
  await until(`${STREAMS} runs execute ${step}`, async () => {
    const all = [...(await executions(server))].filter(([name]) => name.startsWith('stream'));
    return all.filter(([, steps]) => steps.at(-1) === step).length === STREAMS;
  });
}

/** Hands the runs at a gate over, once the next revision serves. */
async function handOver(server: Server, gate: string, switches: number): Promise<void> {
  const logged = (text: string) =>
    until(text, () => server.log.filter(({ message }) => message === text).length >= switches);
  await logged('handing runs over at their next checkpoint');
  await writeFile(gate, '');
  await logged('old revision stopped executing runs');
}

test('twenty streams and a constant load of requests survive a switch to a new revision and a rollback', async () => {
  await using server = await openDeploymentServer({
    deployments: { drain_timeout_seconds: 0 },
    // All streams, and a few of the runs that come meanwhile.
    config: { runs: { concurrency: STREAMS + 4 } },
  });
  const { id } = await server.create('busy');
  const first = await server.deploy(id, fourSteps('one'));
  const { journal, gate } = filesOf(server);
  await writeFile(journal, '');
  const streams = Array.from({ length: STREAMS }, (_, n) => stream(server, `stream-${n}`));
  await atGate(server, 'one:2');

  const background = new Map<string, string>();
  const requests = load(server, background);
  const second = await server.deploy(id, fourSteps('two'));
  expect(second).toMatchObject({ status: 'DEPLOYED', is_active: true });
  const begun = [requests.begun];
  await handOver(server, `${gate}-2`, 1);
  await atGate(server, 'two:3');

  begun.push(requests.begun);
  await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  const { body } = await server.get(`/v2/deployments/${id}/revisions?limit=1`);
  const rollback = await server.ended(id, body.resources[0].id);
  expect(rollback).toMatchObject({ status: 'DEPLOYED', is_active: true, number: 3 });
  expect(rollback.build_steps.map(({ name }) => name)).toEqual(['start', 'check', 'switch']);
  await handOver(server, `${gate}-3`, 2);
  const results = await Promise.all(streams);
  begun.push(requests.begun);
  const answers = await requests.end();

  // Nothing failed, and requests began in each phase: during the build, the switch and the rollback.
  const total = requests.begun;
  expect(Object.fromEntries(answers)).toEqual({
    'search: 200': expect.any(Number),
    'enqueue: 200': background.size,
    'run: 200, 4 steps': Math.floor((total + 14) / 20),
  });
  expect([...answers.values()].reduce((sum, count) => sum + count)).toBe(total);
  expect(begun).toEqual(begun.toSorted((one, other) => one - other));
  expect(new Set([0, ...begun]).size).toBe(4);

  // No stream broke, left anything out or sent it twice.
  for (const { status, events } of results) {
    expect(status).toBe(200);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['metadata', 'values']));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const states = events.filter(({ event }) => event === 'values').map(({ data }) => JSON.parse(data).done);
    // A revision that takes a run over may begin with the state that it goes on from.
    const changes = states.filter((done, n) => done.length !== states[n - 1]?.length);
    // The hand-over reaches a host as a message: it may have begun the last step by then.
    const end = expect.stringMatching(/^(one|two):4$/);
    const steps = ['one:1', 'one:2', 'two:3', end];
    expect(changes).toEqual([[], ...steps.map((_, n) => steps.slice(0, n + 1))]);
  }

  // No run is lost, and no step was executed twice, in whichever revision.
  await until('all runs have ended', async () => (await unfinished(server)) === 0);
  const executed = await executions(server);
  expect(executed.size).toBe(STREAMS + background.size + (answers.get('run: 200, 4 steps') as number));
  for (const [name, of] of executed) {
    expect([name, of.map((step) => step.split(':')[1])], of.join()).toEqual([name, ['1', '2', '3', '4']]);
  }
  for (const thread_id of [...results.map(({ thread_id }) => thread_id), ...background.keys()]) {
    const runs = (await server.get(`/deployments/busy/threads/${thread_id}/runs`)).body;
    expect(runs.map(({ status }: { status: string }) => status)).toEqual(['success']);
    const { run_id } = runs[0];
    const { body } = await server.get(`/deployments/busy/threads/${thread_id}/runs/${run_id}/explain`);
    // A hand-over charges no attempt.
    expect(body.retry_reason ?? null).toBeNull();
  }
});

async function unfinished(server: Server): Promise<number> {
  const of = async (status: string) =>
    ((await server.post('/deployments/busy/runs/search', { status })).body as unknown[]).length;
  return (await of('pending')) + (await of('running'));
}
