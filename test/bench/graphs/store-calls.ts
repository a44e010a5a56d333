import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ calls: Annotation<number>, of: Annotation<'get' | 'put'> });

/** Calls the long-term store one time after the other. */
async function work({ calls, of }: typeof State.State, { store }: LangGraphRunnableConfig) {
  if (!store) throw new Error('The graph needs a store.');
  for (let n = 0; n < calls; n++) {
    if (of === 'put') await store.put(['bench'], `key-${n % 10}`, { n });
    else await store.get(['bench'], 'key-0');
  }
  return {};
}

export const graph = new StateGraph(State)
  .addNode('work', work)
  .addEdge(START, 'work')
  .addEdge('work', END)
  .compile();
