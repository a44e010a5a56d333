import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { Conversation } from './support.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CALLS = 10;
const State = Annotation.Root({ n: Annotation<number>() });
const Inner = Annotation.Root({ ...State.spec, work: Annotation<object>() });

/** A graph that calls another one again and again, whose states `made` refers to. */
function caller(made: WeakRef<object>[], atEnd: () => Promise<void>) {
  const inner = new StateGraph(Inner)
    .addNode('make', () => {
      const work = { step: made.length };
      made.push(new WeakRef(work));
      return { work };
    })
    .addEdge(START, 'make')
    .compile();
  return new StateGraph(State)
    .addNode('call', inner)
    .addNode('count', async ({ n }) => {
      if (n === CALLS - 1) await atEnd();
      return { n: n + 1 };
    })
    .addEdge(START, 'call')
    .addEdge('call', 'count')
    .addConditionalEdges('count', ({ n }) => (n < CALLS ? 'call' : END), ['call', END])
    .compile();
}

test.each([true, false])(
  'states of subgraphs are released while the run continues (requested: %s)',
  async (subgraphs) => {
    const made: WeakRef<object>[] = [];
    const graph = caller(made, async () => {
      const inUse = () => {
        collect();
        return made.filter((state) => state.deref()).length;
      };
      // The last ones may still be in use.
      await expect.poll(inUse).toBeLessThan(CALLS / 2);
    });
    const conversation = new Conversation(langGraph('caller', graph as never, import.meta.dirname));
    await conversation.run({ input: { n: 0 }, subgraphs });
    expect(made).toHaveLength(CALLS);
  },
);
