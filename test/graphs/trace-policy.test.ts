import { LangChainTracer, omitPayload } from '@langchain/core/tracers/tracer_langchain';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { copyOf, type RunnableGraph } from '../../src/graphs/runnable.ts';
import { recordedNodesOf, recordingSteps } from '../../src/graphs/steps/recorded-graph.ts';
import { StepRecorder } from '../../src/graphs/steps/recorder.ts';

interface SentRun {
  readonly id: string;
  readonly name?: string;
  readonly inputs?: unknown;
  readonly outputs?: unknown;
}

/** What LangSmith would have of each run, by its name. */
function sentRuns() {
  const runs = new Map<string, SentRun>();
  const add = async (run: SentRun) => void runs.set(run.id, { ...runs.get(run.id), ...run });
  const client = { createRun: add, updateRun: (id: string, run: SentRun) => add({ ...run, id }) };
  return {
    tracer: new LangChainTracer({ client: client as never }),
    named: (name: string) => [...runs.values()].find((run) => run.name === name),
  };
}

test('a recorded node keeps its trace policy', async () => {
  const tracePolicy = { processInputs: omitPayload, processOutputs: omitPayload };
  const graph = new StateGraph(Annotation.Root({ x: Annotation<number> }))
    .addNode('open', ({ x }) => ({ x: x + 1 }))
    .addNode('secret', ({ x }) => ({ x: x * 2 }), { tracePolicy })
    .addEdge(START, 'open')
    .addEdge('open', 'secret')
    .compile();
  const recorder = new StepRecorder('all', systemClock);
  const nodes = recordedNodesOf(graph as unknown as RunnableGraph);
  const recorded = copyOf(graph, { nodes });
  const { tracer, named } = sentRuns();

  const result = await recordingSteps(recorder, undefined, () =>
    recorded.invoke({ x: 1 }, { callbacks: [tracer] }),
  );

  expect(result).toEqual({ x: 4 });
  expect(recorder.take().map(({ name, status }) => [name, status])).toEqual([
    ['open', 'success'],
    ['secret', 'success'],
  ]);
  expect(named('open')).toMatchObject({ inputs: { x: 1 }, outputs: { x: 2 } });
  expect(named('secret')).toMatchObject({ inputs: {}, outputs: {} });
  expect(JSON.stringify(named('secret'))).not.toContain('"x"');
});
