import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import type { GraphCall, GraphEvent } from '../../src/graphs/graph.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { Conversation } from './support.ts';

/** Reads until the first event, aborts, and tells how the stream ended. */
async function abortAfterFirst(conversation: Conversation, call: Partial<GraphCall>) {
  const controller = new AbortController();
  const seen: GraphEvent[] = [];
  const read = async () => {
    for await (const event of conversation.stream({ ...call, signal: controller.signal })) {
      seen.push(event);
      controller.abort(new Error('cancelled'));
    }
  };
  const error = await read().catch((reason: unknown) => reason);
  return { error, seen };
}

describe('aborting a run', () => {
  test.each([
    ['a node that observes its signal', 'sleeper', ['values']],
    ['a node that does not', 'ignores-abort', ['values']],
    ['a run that tells its events', 'sleeper', ['events']],
  ] as const)('ends the stream of %s with the reason', async (_, name, stream_mode) => {
    const conversation = await Conversation.with(name);
    // Longer than the test may take.
    const { error } = await abortAfterFirst(conversation, { input: { ms: 600_000 }, stream_mode });
    expect(error).toMatchObject({ message: 'cancelled' });
  });

  test('keeps completed steps, from which a later run continues', async () => {
    const steps = await Conversation.with('ten-steps');
    const config = { configurable: { ...steps.configurable, step_ms: 5 } };
    const { error } = await abortAfterFirst(steps, { input: { n: 0 }, config, stream_mode: ['updates'] });
    expect(error).toMatchObject({ message: 'cancelled' });

    const values = await steps.dataOf('values', { input: null });
    expect(values.at(-1)).toEqual({ n: 10, executed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
  });

  test('before the start of a graph executes nothing', async () => {
    const echo = await Conversation.with('echo');
    const read = echo.run({ input: { x: 1 }, signal: AbortSignal.abort(new Error('too late')) });
    await expect(read).rejects.toThrow('too late');
    expect(await echo.state()).toMatchObject({ values: {}, checkpoint: null });
  });
});

test('a graph that continues after its cancellation does not block its reader or crash the process', async () => {
  const { promise: over, resolve: isOver } = Promise.withResolvers<void>();
  let isHeard = true;
  let hasEnded = false;
  async function* talk() {
    for (let turn = 0; isHeard && turn < 1_000_000; turn++) {
      yield [null, 'custom', 1];
      yield [null, 'custom', 2];
      await new Promise(setImmediate);
    }
    hasEnded = true;
    setImmediate(isOver);
    throw new Error('nobody hears this');
  }
  const deaf = { stream: async () => talk(), getState: () => Promise.reject(new Error('has none')) };
  const conversation = new Conversation(langGraph('deaf', deaf, import.meta.dirname));
  const stop = new AbortController();
  async function read() {
    const call = { input: {}, stream_mode: ['custom'], signal: stop.signal } as const;
    for await (const _ of conversation.stream(call)) {
      stop.abort(new Error('cancelled'));
      // Slower than the graph talks.
      await new Promise(setImmediate);
    }
  }
  await expect(read()).rejects.toThrow('cancelled');
  // The reader ended before the graph did.
  expect(hasEnded).toBe(false);
  isHeard = false;
  await over;
});

test('a graph stops when the reader of its stream leaves', async () => {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const listening = new StateGraph(Annotation.Root({ x: Annotation<number>() }))
    .addNode('listen', (_, config: LangGraphRunnableConfig) => {
      config.signal?.addEventListener('abort', () => resolve());
      return stopped.then(() => ({}));
    })
    .addEdge(START, 'listen')
    .compile();
  const conversation = new Conversation(langGraph('listening', listening, import.meta.dirname));
  for await (const _ of conversation.stream({ input: { x: 1 } })) break;
  await stopped;
});

test('concurrent runs of one graph do not share state', async () => {
  const { graph } = await Conversation.with('counter');
  const [one, other] = [new Conversation(graph), new Conversation(graph)];
  await Promise.all([one.run({ input: { add: 1 } }), other.run({ input: { add: 10 } })]);
  expect((await one.state())?.values).toMatchObject({ total: 1 });
  expect((await other.state())?.values).toMatchObject({ total: 10 });
});

test('the recursion limit of a run is the requested one, else that of the graph', async () => {
  const steps = await Conversation.with('ten-steps');
  await expect(
    steps.run({ input: { n: 0 }, config: { ...steps.config, recursion_limit: 3 } }),
  ).rejects.toMatchObject({
    name: 'GraphRecursionError',
    message: expect.stringMatching(/^Recursion limit of 3 reached without hitting a stop condition\./),
  });
  const fresh = new Conversation(steps.graph);
  expect((await fresh.dataOf('values', { input: { n: 0 } })).at(-1)).toMatchObject({ n: 10 });
});
