import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { Conversation } from './support.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('the signal of an ended run is not retained by a signal that outlives it', async () => {
  const graph = new StateGraph(Annotation.Root({ n: Annotation<number>() }))
    .addNode('node', () => ({ n: 1 }))
    .addEdge(START, 'node')
    .compile();
  const signals: WeakRef<AbortSignal>[] = [];
  const observed = {
    stream: (input: never, options: { signal: AbortSignal }) => {
      signals.push(new WeakRef(options.signal));
      return graph.stream(input, options as never);
    },
    getState: () => Promise.reject(new Error('has none')),
  };
  const conversation = new Conversation(langGraph('observed', observed as never, import.meta.dirname));
  const { signal } = new AbortController();
  for (let run = 0; run < 20; run++) {
    await conversation.run({ input: { n: 0 }, stream_mode: ['values'], signal });
  }
  expect(signals).toHaveLength(20);
  expect(signal.aborted).toBe(false);
  const inUse = () => {
    collect();
    return signals.filter((signal) => signal.deref()).length;
  };
  // The last ones may still be in use.
  await expect.poll(inUse).toBeLessThan(10);
});
