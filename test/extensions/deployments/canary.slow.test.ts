import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { isInShare } from '../../../src/extensions/deployments/canary.ts';
import { passHandOver } from '../../support/deployment-process.ts';
import { type Files, openDeploymentServer } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

/** Each step says which version executed it; the second waits for the file `<gate>-1`, the third for `<gate>-2`, and `ask` asks a question. */
function steps(version: string): Files {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph, interrupt } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({
  gate: z.any(),
  ask: z.any(),
  turn: z.any(),
  done: z.array(z.string()).default(() => []),
});
async function step({ gate, ask, done }) {
  if (ask && done.length === 0) interrupt('which?');
  let isOpen = !gate || done.length === 0;
  while (!isOpen) {
    isOpen = existsSync(gate + '-' + done.length);
    // Once more than needed: what the server said before the gate opened has been read then.
    await sleep(5);
  }
  return { done: [...done, ${JSON.stringify(version)}] };
}
export const graph = new StateGraph(State)
  .addNode('begin', () => ({ done: [] }))
  .addNode('step', step)
  .addEdge(START, 'begin')
  .addEdge('begin', 'step')
  .addConditionalEdges('step', ({ done, gate }) => (done.length >= (gate ? 3 : 1) ? END : 'step'))
  .compile();
`,
  };
}

const PERCENT = 50;

/** Chosen so that the test knows where its runs go. */
function threadThat(isIn: boolean): string {
  for (;;) {
    const thread_id = randomUUID();
    if (isInShare(thread_id, PERCENT) === isIn) return thread_id;
  }
}

type Server = Awaited<ReturnType<typeof openDeploymentServer>>;

/** Runs of the deployment `agent`, on threads that are created with them. */
function client({ post }: Pick<Server, 'post'>) {
  const body = (input: object) => ({ assistant_id: 'agent', if_not_exists: 'create', input });
  return {
    async said(thread_id: string, input: object = {}): Promise<string> {
      const run = await post(`/deployments/agent/threads/${thread_id}/runs/wait`, body(input));
      if (run.status !== 200) throw new Error(run.text);
      return run.body.done?.at(-1);
    },
    async begin(thread_id: string, input: object) {
      return (await post(`/deployments/agent/threads/${thread_id}/runs`, body(input))).body;
    },
  };
}

test('a canary gets its share of new threads and keeps them until it is promoted', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 0 } });
  const { said } = client(server);
  const { id } = await server.create('agent');
  const old = threadThat(true);
  const first = await server.deploy(id, steps('one'), { canary_percent: PERCENT });
  // There was nothing beside it.
  expect(first).toMatchObject({ is_active: true, is_canary: false });
  expect(await said(old)).toBe('one');

  const canary = await server.deploy(id, steps('two'), { canary_percent: PERCENT });
  expect(canary).toMatchObject({
    ...{ status: 'DEPLOYED', is_active: false, is_canary: true, canary_percent: PERCENT },
  });
  expect((await server.get(`/v2/deployments/${id}`)).body).toMatchObject({
    ...{ active_revision_id: first.id, canary_revision_id: canary.id },
  });
  const [inside, outside, asking] = [threadThat(true), threadThat(false), threadThat(true)];
  expect(await said(inside)).toBe('two');
  expect(await said(outside)).toBe('one');
  expect(await said(old)).toBe('one');
  expect([await said(inside), await said(outside)]).toEqual(['two', 'one']);
  expect((await server.get(`/deployments/agent/threads/${inside}/state`)).body.values.done).toEqual(['two']);
  await said(asking, { ask: true });
  const resumed = await server.post(`/deployments/agent/threads/${asking}/runs/wait`, {
    assistant_id: 'agent',
    command: { resume: 'this one' },
  });
  expect(resumed.body.done).toEqual(['two']);
  const stateless = await Promise.all(
    Array.from({ length: 20 }, async () => (await server.run('agent')).body.done[0]),
  );
  expect(new Set(stateless)).toEqual(new Set(['one', 'two']));

  const promoted = await server.post(`/v2/deployments/${id}/revisions/${canary.id}/promote`);
  expect(promoted.body).toMatchObject({ is_active: true, is_canary: false });
  expect([await said(inside), await said(outside), await said(old)]).toEqual(['two', 'two', 'two']);
  const again = await server.post(`/v2/deployments/${id}/revisions/${canary.id}/promote`);
  expect([again.status, again.body.detail]).toEqual([409, naming('Revision 2', 'canary')]);
  expect((await server.revision(id, first.id)).is_active).toBe(false);
});

test('a canary that is interrupted hands its runs over, and an ordinary revision replaces one', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 600 } });
  const { said, begin } = client(server);
  const { id } = await server.create('agent');
  await server.deploy(id, steps('one'));
  const canary = await server.deploy(id, steps('two'), { canary_percent: PERCENT });
  const gate = `${server.folder}/gate`;
  const [inside, waiting] = [threadThat(true), threadThat(true)];
  const run = await begin(inside, { gate });
  const path = `/deployments/agent/threads/${inside}`;
  await until('its first step is done', async () => {
    const { body } = await server.get(`${path}/state`);
    return body?.values?.done?.length === 1;
  });
  const ended = await server.post(`/v2/deployments/${id}/revisions/${canary.id}/interrupt`);
  expect(ended.body).toMatchObject({ status: 'INTERRUPTED', is_canary: false, is_active: false });
  expect(await said(waiting)).toBe('one');
  await passHandOver(server, gate);
  const joined = await server.get(`${path}/runs/${run.run_id}/join`);
  expect(joined.body.done).toEqual(['two', 'two', 'one']);
  expect(await said(inside)).toBe('one');

  const second = await server.deploy(id, steps('three'), { canary_percent: PERCENT });
  expect(second).toMatchObject({ number: 3, is_canary: true });
  const third = await server.deploy(id, steps('four'), { canary_percent: PERCENT });
  expect(await server.revision(id, second.id)).toMatchObject({ status: 'INTERRUPTED', is_canary: false });
  expect([await said(threadThat(true)), await said(threadThat(false))]).toEqual(['four', 'one']);
  const last = await server.deploy(id, steps('five'));
  expect(last.is_active).toBe(true);
  expect(await server.revision(id, third.id)).toMatchObject({ status: 'INTERRUPTED', is_canary: false });
  expect([await said(threadThat(true)), await said(threadThat(false))]).toEqual(['five', 'five']);
});

test('if a canary is promoted and interrupted concurrently, one wins, and no run enqueued in the meantime is lost', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 0 } });
  const { said } = client(server);
  const { id } = await server.create('agent');
  await server.deploy(id, steps('one'));
  const versions = ['two', 'three'];
  for (const [at, version] of versions.entries()) {
    const canary = await server.deploy(id, steps(version), { canary_percent: PERCENT });
    let isOver = false;
    const load = Array.from({ length: 4 }, async (_, n) => {
      const answers: string[] = [];
      while (!isOver) answers.push(await said(threadThat(n % 2 === 0)));
      return answers;
    });
    const verbs = at === 0 ? ['promote', 'interrupt'] : ['interrupt', 'promote'];
    const answers = await Promise.all(
      verbs.map((verb) => server.post(`/v2/deployments/${id}/revisions/${canary.id}/${verb}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isPromoted = answers[verbs.indexOf('promote')]?.status === 200;
    expect(await server.revision(id, canary.id)).toMatchObject({
      ...{ is_canary: false, is_active: isPromoted, status: isPromoted ? 'DEPLOYED' : 'INTERRUPTED' },
    });
    const after = [await said(threadThat(true)), await said(threadThat(false))];
    expect(new Set(after).size).toBe(1);
    expect(after[0] === version).toBe(isPromoted);
    isOver = true;
    await Promise.all(load);
  }
});
