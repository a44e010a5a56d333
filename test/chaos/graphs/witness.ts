import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

/** The process of the server, also where the graph executes in a graph host. */
const SERVER_PID = process.argv[1]?.includes('hosts/host/main') ? process.ppid : process.pid;

/** What a step wrote into the file of the test: also what no checkpoint tells. */
export interface Witnessed {
  readonly pid: number;
  readonly n: number;
  readonly what: 'begins' | 'ends' | 'is stopped';
  /** Epoch ms. */
  readonly at: number;
}

/** `steps` steps of `ms` each that write down when they begin and end; `executed` has those whose result counts. */
const State = Annotation.Root({
  file: Annotation<string>(),
  steps: Annotation<number>(),
  ms: Annotation<number>(),
  n: Annotation<number>({ reducer: (_, n) => n, default: () => 0 }),
  executed: Annotation<number[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

async function step({ file, ms, n }: typeof State.State, { signal }: LangGraphRunnableConfig) {
  const write = (what: Witnessed['what']) =>
    appendFileSync(file, `${JSON.stringify({ pid: SERVER_PID, n: n + 1, what, at: Date.now() })}\n`);
  write('begins');
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    write('is stopped');
    throw error;
  }
  write('ends');
  return { n: n + 1, executed: [n + 1] };
}

export const graph = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ n, steps }) => (n < steps ? 'step' : END))
  .compile();
