import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  number: Annotation(),
  steps: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** Doubles a number; asks whether to go on from numbers above 100, and adds the answer. */
export const doubler = new StateGraph(State)
  .addNode('double', ({ number }) => {
    // biome-ignore lint/suspicious/noConsole: user code may
    console.log(`doubles ${number}`);
    return { number: number * 2, steps: ['double'] };
  })
  .addNode('ask', ({ number }) => {
    const answer = number > 100 ? interrupt({ question: `Add what to ${number}?` }) : 0;
    return { number: number + answer, steps: ['ask'] };
  })
  .addEdge(START, 'double')
  .addEdge('double', 'ask')
  .addEdge('ask', END)
  .compile();

/** Fails in its only node. */
export const failing = new StateGraph(State)
  .addNode('fail', () => {
    throw new RangeError('too large', { cause: new Error('the disk is full') });
  })
  .addEdge(START, 'fail')
  .compile();

/** Waits until it is cancelled. */
export const waiting = new StateGraph(State)
  .addNode('wait', (_state, { signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  })
  .addEdge(START, 'wait')
  .compile();

/** Keeps its number in the store, and reads it again. */
export const remembering = new StateGraph(State)
  .addNode('remember', async ({ number }, { store }) => {
    await store.put(['numbers'], 'last', { number });
    const item = await store.get(['numbers'], 'last');
    return { number: item.value.number + 1 };
  })
  .addEdge(START, 'remember')
  .compile();

/** Computes without a pause. */
export const blocking = new StateGraph(State)
  .addNode('block', () => {
    for (;;);
  })
  .addEdge(START, 'block')
  .compile();

/** Writes ten texts of 1,048,574 characters, which are 1,048,576 as JSON, and ends. */
export const talking = new StateGraph(State)
  .addNode('talk', (_state, { writer }) => {
    for (let count = 0; count < 10; count += 1) writer('x'.repeat(1_048_574));
    return {};
  })
  .addEdge(START, 'talk')
  .compile();
