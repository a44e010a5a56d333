import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** Two graphs that are executed beside each other: the culprit ends the process in the midst of the other's work. */
const STEP = 'chaos:step';
const STEP_MS = 300;

const Steps = Annotation.Root({
  n: Annotation<number>({ reducer: (_, n) => n, default: () => 0 }),
});

async function step({ n }: typeof Steps.State) {
  process.emit(STEP as never);
  await sleep(STEP_MS);
  return { n: n + 1 };
}

/** Twelve supersteps. */
export const neighbour = new StateGraph(Steps)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ n }) => (n < 12 ? 'step' : END))
  .compile();

/** Ends the process at each attempt, when the neighbour has done two steps more. */
async function kill() {
  let begun = 0;
  for await (const _ of on(process, STEP)) if (++begun === 3) process.exit(137);
}

export const culprit = new StateGraph(Annotation.Root({ x: Annotation<number>() }))
  .addNode('kill', kill)
  .addEdge(START, 'kill')
  .addEdge('kill', END)
  .compile();
