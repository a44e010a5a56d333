import { expect, test } from 'vitest';
import { openDeploymentServer } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';

/** Asks, and notes its version once the answer is there. */
function asking(version: string) {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { END, START, StateGraph, interrupt } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ answer: z.any(), done: z.any() });
export const graph = new StateGraph(State)
  .addNode('step', () => ({ answer: interrupt('which?'), done: [${JSON.stringify(version)}] }))
  .addEdge(START, 'step')
  .addEdge('step', END)
  .compile();
`,
  };
}

test('an interrupt of the old revision can be answered in the new one, and removed nodes are listed', async () => {
  await using server = await openDeploymentServer({ deployments: { drain_timeout_seconds: 1 } });
  const { id } = await server.create('asks');
  await server.deploy(id, asking('one'));
  const threads = await Promise.all(
    [1, 2].map(async () => (await server.post('/deployments/asks/threads')).body.thread_id),
  );
  for (const thread_id of threads) {
    const run = await server.post(`/deployments/asks/threads/${thread_id}/runs/wait`, {
      assistant_id: 'agent',
      input: {},
    });
    expect(run.body).toHaveProperty('__interrupt__');
  }
  await server.deploy(id, asking('two'));
  const answered = await server.post(`/deployments/asks/threads/${threads[0]}/runs/wait`, {
    assistant_id: 'agent',
    command: { resume: 'this one' },
  });
  expect(answered.body).toMatchObject({ answer: 'this one', done: ['two'] });

  const renamed = asking('three');
  const third = await server.deploy(id, {
    ...renamed,
    'agent.ts': renamed['agent.ts'].replaceAll("'step'", "'other'"),
  });
  expect(third.status).toBe('DEPLOYED');
  const { body } = await server.post(`/v1/projects/${id}/revisions/${third.id}/build_logs`, {
    level: 'WARNING',
  });
  expect(body.logs.map(({ message }: { message: string }) => message)).toEqual([
    naming(threads[1] as string, '"step"'),
  ]);
});
