import { InMemoryStore, MemorySaver } from '@langchain/langgraph';
import { beforeEach, expect, test } from 'vitest';
import { graph } from '../../examples/research/graph.ts';
import { onThreads } from './on-threads.ts';

const THREE = 'Compare heat pumps, insulation and solar panels.';

let research: typeof graph;
let store: InMemoryStore;
let threads = 0;

beforeEach(() => {
  store = new InMemoryStore();
  research = onThreads(graph, new MemorySaver(), store);
});

/** Each question on a thread of its own. */
function investigate(question: string, user?: string, configurable = {}) {
  const thread_id = `thread-${threads++}`;
  return research.invoke(
    { question },
    { configurable: { thread_id, ...configurable }, ...(user === undefined ? {} : { context: { user } }) },
  );
}

test('the research graph reports on each topic of the question, with its sources', async () => {
  const { topics, report } = await investigate(THREE);

  expect(topics).toEqual(['heat pumps', 'insulation', 'solar panels']);
  expect(report).toContain(`# ${THREE}\n`);
  expect(report).toMatch(/## heat pumps\n\n.+\(heat-pumps\.md, /);
  expect(report).toMatch(/## insulation\n\n.+\(insulation\.md, /);
  expect(report).toMatch(/## solar panels\n\n.+\(solar-panels\.md, /);
});

test('the research graph looks topics up in parallel subgraphs', async () => {
  const steps = new Map<string, number>();
  const namespaces = new Set<string>();
  for await (const [namespace, mode, data] of await research.stream(
    { question: THREE },
    { configurable: { thread_id: 'parallel' }, streamMode: ['updates', 'debug'], subgraphs: true },
  )) {
    if (namespace.length > 0) namespaces.add(namespace[0]!);
    if (mode === 'debug' && data.type === 'task' && data.payload.name === 'investigate') {
      steps.set(data.payload.id, data.step);
    }
  }

  expect(steps.size).toBe(3);
  expect(new Set(steps.values()).size).toBe(1);
  expect([...namespaces].map((namespace) => namespace.split(':')[0])).toEqual(Array(3).fill('investigate'));
});

test('the research graph reports its progress', async () => {
  const progress: unknown[] = [];
  for await (const [, , data] of await research.stream(
    { question: 'solar panels and unicorns' },
    { configurable: { thread_id: 'progress' }, streamMode: ['custom'], subgraphs: true },
  )) {
    progress.push(data);
  }

  expect(progress).toEqual([
    { step: 'plan', topics: ['solar panels', 'unicorns'] },
    { step: 'recall', topics: [] },
    { step: 'search', topic: expect.any(String), passages: expect.any(Number) },
    { step: 'search', topic: expect.any(String), passages: expect.any(Number) },
  ]);
});

test('the research graph remembers what an earlier thread of the same user found', async () => {
  await investigate(THREE, 'ana');
  const { remembered, report } = await investigate('heat pumps and batteries', 'ana');

  expect(remembered).toEqual(['heat pumps']);
  expect(report).toMatch(/## heat pumps\n\n.+\(heat-pumps\.md, [\s\S]+## batteries\n\n.+\(batteries\.md, /);
});

test('the research graph starts no subgraph if memory has every answer', async () => {
  await investigate(THREE, 'ana');
  const nodes: string[] = [];
  for await (const update of await research.stream(
    { question: THREE },
    { configurable: { thread_id: 'known' }, context: { user: 'ana' }, streamMode: 'updates' },
  )) {
    nodes.push(...Object.keys(update));
  }

  expect(nodes).toEqual(['plan', 'recall', 'write']);
});

test('the research graph shares no memory between users', async () => {
  await investigate('insulation', 'ana@example.com');

  expect(await investigate('insulation', 'ana@example_com')).toMatchObject({ remembered: [] });
  expect(await investigate('insulation')).toMatchObject({ remembered: [] });
  expect(await investigate('insulation', 'ana@example.com')).toMatchObject({ remembered: ['insulation'] });
});

test('the research graph prefers the authenticated user to the one that the caller names', async () => {
  await investigate('insulation', 'ana');

  const { remembered } = await investigate('insulation', 'ana', { langgraph_auth_user_id: 'bob' });
  expect(remembered).toEqual([]);
});

test('the research graph does not remember that it found nothing', async () => {
  const { report } = await investigate('unicorns', 'ana');

  expect(report).toMatch(/^# unicorns\n\n## unicorns\n\n.*says nothing/);
  expect(await store.search(['research'])).toEqual([]);
});

test('the research graph reports on a second question only about its own topics', async () => {
  const config = { configurable: { thread_id: 'two' } };
  await research.invoke({ question: 'insulation' }, config);
  const { findings, report } = await research.invoke({ question: 'ventilation' }, config);

  expect(findings.map(({ topic }) => topic)).toEqual(['insulation', 'ventilation']);
  expect(report).not.toContain('## insulation');
});

test('the research graph works without a store and without a question', async () => {
  expect(await graph.invoke({ question: 'insulation' })).toMatchObject({ remembered: [] });
  expect(await graph.invoke({ question: '' })).toMatchObject({ topics: [] });
});
