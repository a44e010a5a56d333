import { setImmediate as turn } from 'node:timers/promises';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

/** Emits `count` custom events of `bytes` each, a turn of the event loop apart. */
const State = Annotation.Root({
  count: Annotation<number>(),
  bytes: Annotation<number>(),
  emitted: Annotation<number>(),
});

async function flood({ count, bytes }: typeof State.State, config: LangGraphRunnableConfig) {
  for (let number = 1; number <= count; number++) {
    config.writer?.({ number, text: 'x'.repeat(bytes) });
    await turn();
  }
  return { emitted: count };
}

export const graph = new StateGraph(State)
  .addNode('flood', flood)
  .addEdge(START, 'flood')
  .addEdge('flood', END)
  .compile();
