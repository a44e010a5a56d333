import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

/**
 * Watches itself: `most` is how many executions of a thread there ever were at the same moment in this process. Each
 * takes `ms`, or until it is cancelled; `finished` lists the labels of those that came to their end.
 */
const State = Annotation.Root({
  ms: Annotation<number>(),
  label: Annotation<string>(),
  most: Annotation<number>(),
  finished: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

const watches = new Map<string, { now: number; most: number }>();

async function watch({ ms, label }: typeof State.State, { configurable, signal }: LangGraphRunnableConfig) {
  const thread_id = String(configurable?.thread_id);
  const seen = watches.get(thread_id) ?? { now: 0, most: 0 };
  watches.set(thread_id, seen);
  seen.most = Math.max(seen.most, ++seen.now);
  try {
    await sleep(ms, undefined, { signal });
  } finally {
    seen.now--;
  }
  return { most: seen.most, finished: [label] };
}

export const graph = new StateGraph(State)
  .addNode('watch', watch)
  .addEdge(START, 'watch')
  .addEdge('watch', END)
  .compile();
