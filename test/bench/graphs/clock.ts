import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

/** Says the time `count` times, `pause_ms` apart, as custom events; a reader on the same machine knows what they took. */
const State = Annotation.Root({ count: Annotation<number>(), pause_ms: Annotation<number>() });

async function tellTime(
  { count, pause_ms }: typeof State.State,
  { writer, signal }: LangGraphRunnableConfig,
) {
  for (let told = 0; told < count; told += 1) {
    writer?.({ at: performance.timeOrigin + performance.now() });
    if (pause_ms > 0) await sleep(pause_ms, undefined, { signal });
  }
  return {};
}

export const graph = new StateGraph(State)
  .addNode('clock', tellTime)
  .addEdge(START, 'clock')
  .addEdge('clock', END)
  .compile();
