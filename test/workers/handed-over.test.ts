import { randomUUID } from 'node:crypto';
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import type { RunKwargs } from '../../src/schemas/runs.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { graphWorker } from '../support/graph-worker.ts';

const NOTES = 30;
const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Two nodes; the first waits for `go`, and then writes many notes in one turn. */
function twoNodes() {
  const entered = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const first = async (_state: unknown, { writer }: LangGraphRunnableConfig) => {
    entered.resolve();
    await go.promise;
    for (let n = 0; n < NOTES; n++) writer?.({ n });
    return { log: ['first'] };
  };
  const graph = new StateGraph(State)
    .addNode('first', first)
    .addNode('second', () => ({ log: ['second'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .compile();
  return { graph, entered: entered.promise, go: go.resolve };
}

/** A run that one worker hands over at the end of its first node, and another one ends. */
async function handedOver(db: Db, kwargs: Partial<RunKwargs>) {
  const { graph, entered, go } = twoNodes();
  const from = graphWorker(db, graph);
  from.worker.start();
  const run = await from.submit(randomUUID(), { input: { log: [] }, ...kwargs });
  await Promise.race([entered, from.ended(run)]);
  const stopped = from.worker.stop(60_000, true);
  go();
  await stopped;
  const to = graphWorker(db, graph);
  to.worker.start();
  expect(await to.ended(run)).toBe('success');
  await to.worker.stop(0);
  return to.events(run);
}

const namesOf = (events: unknown[][], name: string) =>
  events.filter(([event]) => event === name).map(([, data]) => data);

describeEachDatabase('a run that is handed over after a node', (open) => {
  test('loses no event of the node, also if it wrote many in one turn, and repeats no state', async () => {
    await using db = await open();
    const events = await handedOver(db, { stream_mode: ['values', 'updates', 'custom'] });
    expect(namesOf(events, 'metadata')).toHaveLength(2);
    expect(namesOf(events, 'custom')).toEqual(Array.from({ length: NOTES }, (_, n) => ({ n })));
    expect(namesOf(events, 'updates')).toEqual([
      { first: { log: ['first'] } },
      { second: { log: ['second'] } },
    ]);
    expect(namesOf(events, 'values')).toEqual([
      { log: [] },
      { log: ['first'] },
      { log: ['first', 'second'] },
    ]);
  });

  test.each([
    ['before the next node', { interrupt_before: ['second'] }],
    ['after the node', { interrupt_after: ['first'] }],
  ])('stops at a breakpoint there: %s', async (_where, breakpoint) => {
    await using db = await open();
    const events = await handedOver(db, { ...breakpoint, stream_mode: ['values', 'updates'] });
    expect(namesOf(events, 'updates')).toEqual([{ first: { log: ['first'] } }, { __interrupt__: [] }]);
    expect(namesOf(events, 'values').at(-1)).toEqual({ log: ['first'] });
  });
});
