import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { runCheckpointer, threadCheckpointer } from '../../src/graphs/checkpointer/open.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import { restoreClock, setClockBack } from '../support/clock-set-back.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { KWARGS, newRun, request } from '../support/queued-runs.ts';
import { scriptedGraph, untilStopped } from '../support/scripted-graph.ts';
import { until } from '../support/until.ts';

afterEach(restoreClock);

const State = Annotation.Root({
  done: Annotation<string[]>({ reducer: (done, more) => [...done, ...more], default: () => [] }),
});

/** Three steps; the clock is set back in the second, once. */
function setsClockBack() {
  let isSet = false;
  const second = () => {
    if (!isSet) setClockBack(300);
    isSet = true;
    return { done: ['second'] };
  };
  const graph = new StateGraph(State)
    .addNode('first', () => ({ done: ['first'] }))
    .addNode('second', second)
    .addNode('third', () => ({ done: ['third'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('third', END)
    .compile();
  return langGraph('steps', graph as never, import.meta.dirname);
}

describeEachDatabase('a clock that is set back while a run executes', (open) => {
  test('the run is tried again from its newest checkpoint, and loses no step', async () => {
    await using db = await open();
    const graph = setsClockBack();
    const checkpoints = checkpointRepository(db);
    const graphs = { ...scriptedGraph(untilStopped), get: async () => graph };
    const at = executingWorker(db, graphs, {}, () => ({
      memory: (writes, lease, options) => ({
        checkpointer: runCheckpointer({ checkpoints, writes, lease, record: 'off', ...options }),
        store: undefined,
      }),
    }));
    at.worker.start();
    const thread_id = randomUUID();
    const config = { configurable: { graph_id: 'steps', thread_id } };
    const run = { ...newRun(thread_id), kwargs: { ...KWARGS, input: { done: ['input'] }, config } };
    await at.queue.enqueue(request(run));
    await until('the run has ended', async () => {
      at.bus.emit('run.ready');
      return (await at.queue.position(run.run_id)) === undefined;
    });
    expect(await at.statusOf(run.run_id)).toBe('success');
    expect(at.observed.run_queue_wait_time_1st_attempt).toHaveLength(1);
    const checkpointer = threadCheckpointer({ checkpoints, thread_id, ids: systemIds(systemClock) });
    const memory = { checkpointer, store: undefined };
    const state = await graph.state({ configurable: { thread_id } }, memory, false);
    expect(state?.values).toEqual({ done: ['input', 'first', 'second', 'third'] });
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['success']);
  });
});
