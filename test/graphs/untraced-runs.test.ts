import { CallbackManager } from '@langchain/core/callbacks/manager';
import { getContextVariable, setContextVariable } from '@langchain/core/context';
import { RunnableLambda } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton as provider } from '@langchain/core/singletons';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, getConfig, START, StateGraph } from '@langchain/langgraph';
import { isRunTree, type RunTree } from 'langsmith/run_trees';
import { getCurrentRunTree, traceable } from 'langsmith/traceable';
import { afterEach, expect, test, vi } from 'vitest';
import { skipUnusedRuns } from '../../src/graphs/observability/untraced-runs.ts';

afterEach(() => vi.unstubAllEnvs());

const isTracingEnabled = () => process.env['LANGSMITH_TRACING'] === 'true';

/** What code of a node finds around it, through a step that was given no configuration. */
async function found(config: object = {}) {
  const seen: Record<string, unknown> = {};
  const inner = RunnableLambda.from(() => {
    const { metadata, tags, configurable } = getConfig();
    Object.assign(seen, { node: metadata?.['langgraph_node'], tags, user: configurable?.['user'] });
    seen['inner variable'] = getContextVariable('variable');
    return null;
  });
  const State = Annotation.Root({ x: Annotation<number> });
  const graph = new StateGraph(State)
    .addNode('look', async () => {
      const run = getCurrentRunTree(true) as RunTree | undefined;
      seen['run'] = run;
      seen['before'] = getContextVariable('variable');
      setContextVariable('variable', 'set');
      seen['traceable'] = await traceable(async (x: number) => x + 1, { name: 'plus' })(1);
      await inner.invoke(null);
      return { x: 1 };
    })
    .addEdge(START, 'look')
    .compile();
  await graph.invoke({ x: 0 }, { configurable: { user: 'ann' }, tags: ['mine'], ...config });
  const { run, ...rest } = seen;
  const { extra, tracingEnabled } = run as RunTree;
  return { ...rest, isRunTree: isRunTree(run), tracingEnabled, metadata: extra?.metadata };
}

test('untraced code gets the same run configuration as before', async () => {
  const before = await found();
  const original = provider.runWithConfig;
  await skipUnusedRuns(import.meta.dirname, isTracingEnabled);
  expect(provider.runWithConfig).not.toBe(original);
  const after = await found();
  expect(after).toEqual(before);
  expect(after).toMatchObject({
    isRunTree: true,
    tracingEnabled: false,
    node: 'look',
    user: 'ann',
    traceable: 2,
  });
  expect(after).toMatchObject({ 'inner variable': 'set', before: undefined });
});

test('the untraced runs of two steps share no mutable state', async () => {
  await skipUnusedRuns(import.meta.dirname, isTracingEnabled);
  const [one, other] = [1, 2].map((n) => provider.runWithConfig({ n }, () => getCurrentRunTree() as RunTree));
  one?.createChild({ name: 'child' });
  expect(one?.child_runs).toHaveLength(1);
  expect(other?.child_runs).toHaveLength(0);
  const within = provider.runWithConfig({ a: 1 }, () =>
    provider.runWithConfig({ b: 2 }, () => provider.getRunnableConfig()),
  );
  expect(within).toEqual({ b: 2 });
});

test('a token of an untraced stream creates no callback manager', async () => {
  await skipUnusedRuns(import.meta.dirname, isTracingEnabled);
  const configured = vi.spyOn(CallbackManager, '_configureSync');
  const managersFor = async (count: number) => {
    configured.mockClear();
    const model = new FakeListChatModel({ responses: ['x'.repeat(count)] });
    let received = 0;
    for await (const _ of await model.stream('')) received++;
    expect(received).toBeGreaterThanOrEqual(count);
    return configured.mock.calls.length;
  };
  expect(await managersFor(50)).toBe(await managersFor(5));
  configured.mockRestore();
});

test('code without a run gets no configuration, and keeps the variables of the code around it', async () => {
  await skipUnusedRuns(import.meta.dirname, isTracingEnabled);
  const config = () => provider.getRunnableConfig();
  expect(
    provider.runWithConfig({ a: 1 }, () => provider.runWithConfig({ b: 2 }, config, true)),
  ).toBeUndefined();
  const variable = provider.runWithConfig({ a: 1 }, () => {
    setContextVariable('variable', 'set');
    return provider.runWithConfig({ b: 2 }, () => getContextVariable('variable'), true);
  });
  expect(variable).toBe('set');
});

test('code traced by a tracer or by the environment has its own run', async () => {
  await skipUnusedRuns(import.meta.dirname, isTracingEnabled);
  const tracer = new LangChainTracer({
    client: { createRun: async () => {}, updateRun: async () => {} } as never,
  });
  const traced = RunnableLambda.from(() => getCurrentRunTree() as RunTree);
  const run = await traced.invoke(null, { callbacks: [tracer], runName: 'traced' });
  expect(run.name).toBe('traced');

  const ids = () => [1, 2].map(() => provider.runWithConfig({}, () => (getCurrentRunTree() as RunTree).id));
  expect(new Set(ids()).size).toBe(1);
  vi.stubEnv('LANGSMITH_TRACING', 'true');
  await new Promise(setImmediate);
  expect(new Set(ids()).size).toBe(2);
});
