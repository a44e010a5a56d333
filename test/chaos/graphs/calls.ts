import { setTimeout as sleep } from 'node:timers/promises';
import { DynamicTool } from '@langchain/core/tools';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { NamedModel } from '../../fixtures/usage/spender.ts';

const State = Annotation.Root({ n: Annotation<number>() });

const model = new NamedModel('small');
const search = new DynamicTool({ name: 'search', description: 'Searches.', func: async (query) => query });

/** Ten supersteps, from `{n: 0}` to `{n: 10}`: each calls a model and a tool, and then takes `configurable.step_ms`. */
async function call({ n }: typeof State.State, { configurable, signal }: LangGraphRunnableConfig) {
  await model.invoke('say');
  await search.invoke('it');
  await sleep(Number(configurable?.step_ms ?? 0), undefined, { signal });
  return { n: n + 1 };
}

export const graph = new StateGraph(State)
  .addNode('call', call)
  .addEdge(START, 'call')
  .addConditionalEdges('call', ({ n }) => (n < 10 ? 'call' : END))
  .compile();
