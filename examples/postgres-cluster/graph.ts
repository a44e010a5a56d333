import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

const State = new StateSchema({
  steps: z.number().default(5),
  done: z.number().default(0),
  /** Machine and process of the worker that executed the last step: the parent of the graph host. */
  worker: z.string().default(''),
});

/** One step takes 200 ms, so that there is time to stop a worker in the middle of a run. */
const step: typeof State.Node = async ({ done }) => {
  await sleep(200);
  return { done: done + 1, worker: `${process.env['HOSTNAME'] ?? 'local'}:${process.ppid}` };
};

export const graph = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ done, steps }) => (done < steps ? 'step' : END))
  .compile();
