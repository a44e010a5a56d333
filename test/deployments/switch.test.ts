import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openDeploymentServer } from '../support/deployments.ts';
import { sseEvents } from '../support/sse.ts';
import { until } from '../support/until.ts';

/** Four steps. With a gate, the second and the third end when the files `<gate>-2` and `<gate>-3` exist. */
function steps(version: string, more = '') {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph, interrupt } from '@langchain/langgraph';
const State = Annotation.Root({
  gate: Annotation,
  ask: Annotation,
  answer: Annotation,
  done: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
async function step({ gate, done, ask }) {
  if (ask && done.length === 0) return { answer: interrupt('which?'), done: [${JSON.stringify(version)}] };
  const n = done.length + 1;
  while (gate && (n === 2 || n === 3) && !existsSync(gate + '-' + n)) await sleep(5);
  return { done: [${JSON.stringify(version)} + ':' + n] };
}
export const graph = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ done, ask }) => (ask || done.length >= 4 ? END : 'step'))
  .compile();
${more}`,
  };
}

test('under load, requests and streams survive the switch to a new revision, and a rollback', async () => {
  await using server = await openDeploymentServer({
    deployments: { drain_timeout_seconds: 0 },
    // Half of the streams; `auto` would execute more of them in time.
    config: { runs: { concurrency: 10 } },
  });
  const { id } = await server.create('busy');
  const first = await server.deploy(id, steps('one'));
  expect(first.status).toBe('DEPLOYED');
  const gate = `${server.folder}/gate`;
  const base = `${server.url}/deployments/busy`;
  const headers = { 'x-api-key': 'operator-of-the-tests', 'content-type': 'application/json' };
  const STREAMS = 20;

  const streams = Array.from({ length: STREAMS }, async () => {
    const thread = await fetch(`${base}/threads`, { method: 'POST', headers, body: '{}' });
    const { thread_id } = (await thread.json()) as { thread_id: string };
    const response = await fetch(`${base}/threads/${thread_id}/runs/stream`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ assistant_id: 'agent', input: { gate }, stream_mode: 'values' }),
    });
    const events: string[] = [];
    const values: { done: string[] }[] = [];
    const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
    for await (const { event, data } of sseEvents(text)) {
      events.push(event);
      if (event === 'values') values.push(JSON.parse(data));
    }
    return { status: response.status, events, done: values.at(-1)?.done ?? [], thread_id };
  });
  const running = async () =>
    ((await server.post('/deployments/busy/runs/search', { status: 'running' })).body as unknown[]).length;
  await until('ten runs execute', async () => (await running()) === 10, 60_000);

  let isOver = false;
  const answers = new Map<string, number>();
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const response = await fetch(`${base}/threads/search`, {
        method: 'POST',
        headers,
        body: '{"limit":1}',
      });
      await response.arrayBuffer();
      answers.set(String(response.status), (answers.get(String(response.status)) ?? 0) + 1);
    }
  });
  const second = await server.deploy(id, steps('two'));
  expect(second).toMatchObject({ status: 'DEPLOYED', is_active: true });
  const logged = (text: string) =>
    until(text, () => server.log.some(({ message }) => message === text), 60_000);
  await logged('handing runs over at their next checkpoint');
  await writeFile(`${gate}-2`, '');
  await logged('old revision executes no more runs');
  await writeFile(`${gate}-3`, '');
  const results = await Promise.all(streams);
  expect((await server.run('busy')).body.done).toEqual(['two:1', 'two:2', 'two:3', 'two:4']);
  isOver = true;
  await Promise.all(load);

  expect([...answers.keys()]).toEqual(['200']);
  expect(answers.get('200')).toBeGreaterThan(20);
  for (const { status, events, done } of results) {
    expect([status, events.includes('error')]).toEqual([200, false]);
    // Each step was executed once, in one revision or the other.
    expect(done.map((each) => each.split(':')[1])).toEqual(['1', '2', '3', '4']);
  }
  // Those that executed when the switch came went on in the new revision, from their next checkpoint.
  const began = results.filter(({ done }) => done[0] === 'one:1');
  expect(began).toHaveLength(10);
  for (const { done } of began) expect(done).toEqual(['one:1', 'one:2', 'two:3', 'two:4']);
  for (const { thread_id } of results) {
    const runs = (await server.get(`/deployments/busy/threads/${thread_id}/runs`)).body;
    expect(runs).toHaveLength(1);
    expect(runs[0].status).toBe('success');
    const explained = (
      await server.get(`/deployments/busy/threads/${thread_id}/runs/${runs[0].run_id}/explain`)
    ).body;
    expect([explained.attempt ?? 1, explained.retry_reason ?? null]).toEqual([expect.any(Number), null]);
  }

  await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  const { body } = await server.get(`/v2/deployments/${id}/revisions?limit=1`);
  const rollback = await server.ended(id, body.resources[0].id);
  expect(rollback).toMatchObject({ status: 'DEPLOYED', is_active: true, number: 3 });
  expect(rollback.build_steps.map(({ name }) => name)).toEqual(['start', 'check', 'switch']);
  expect((await server.run('busy')).body.done[0]).toBe('one:1');
}, 240_000);

test('an interrupt that the old revision asked is answered in the new one, and lost nodes are listed', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 1 } });
  const { id } = await server.create('asks');
  await server.deploy(id, steps('one'));
  const threads = await Promise.all(
    [1, 2].map(async () => (await server.post('/deployments/asks/threads')).body.thread_id),
  );
  for (const thread_id of threads) {
    const run = await server.post(`/deployments/asks/threads/${thread_id}/runs/wait`, {
      assistant_id: 'agent',
      input: { ask: true },
    });
    expect(run.body).toHaveProperty('__interrupt__');
  }
  await server.deploy(id, steps('two'));
  const answered = await server.post(`/deployments/asks/threads/${threads[0]}/runs/wait`, {
    assistant_id: 'agent',
    command: { resume: 'this one' },
  });
  expect(answered.body).toMatchObject({ answer: 'this one', done: ['two'] });

  const renamed = steps('three');
  const third = await server.deploy(id, {
    ...renamed,
    'agent.ts': renamed['agent.ts'].replaceAll("'step'", "'other'"),
  });
  expect(third.status).toBe('DEPLOYED');
  const { body } = await server.post(`/v1/projects/${id}/revisions/${third.id}/build_logs`, {
    level: 'WARNING',
  });
  expect(body.logs.map(({ message }: { message: string }) => message)).toEqual([
    `Thread ${threads[1]} waits in "step", which is gone.`,
  ]);
}, 240_000);
