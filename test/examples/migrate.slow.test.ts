import { expect, test } from 'vitest';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { inProgram, NODE, onlyBlock } from './blocks.ts';

const AGENT = `import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({
  text: Annotation(),
  log: Annotation({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode('draft', () => ({ log: ['draft'] }))
  .addNode('approve', () => ({ log: [\`approve:\${interrupt({ question: 'Send it?' })}\`] }))
  .addEdge(START, 'draft').addConditionalEdges('draft', ({ text }) => (text === 'short' ? END : 'approve'))
  .addEdge('approve', END).compile();
`;

test('docs/migrate.md moves assistants, threads, questions and the store to another server', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { agent: ./agent.mjs:graph }',
    'agent.mjs': AGENT,
  });
  const config = folder.path('agent.config.yaml');
  await using old = await startServer({ config, api_keys: ['old-key'] });
  await using young = await startServer({ config });
  const from = old.client;
  const to = young.client;
  const polite = await from.assistants.create({
    graphId: 'agent',
    name: 'Polite',
    context: { tone: 'polite' },
    config: { recursion_limit: 7 },
    metadata: { team: 'support' },
  });
  const done = await from.threads.create({ metadata: { owner: 'ann' } });
  await from.runs.wait(done.thread_id, 'agent', { input: { text: 'short' } });
  const asking = await from.threads.create();
  await from.runs.wait(asking.thread_id, polite.assistant_id, { input: { text: 'long' } });
  const fresh = await from.threads.create({ metadata: { note: 'never used' } });
  for (let n = 0; n < 120; n++) await from.store.putItem(['facts', `user-${n % 3}`], `key-${n}`, { n });

  const script = onlyBlock('docs/migrate.md', 'js', 'move.mjs').replace(
    'process.env.FROM_KEY ?? null',
    "'old-key'",
  );
  const move = () => inProgram(NODE, ['--input-type=module', '-', old.url, young.url], script, '');
  expect(await move()).toContain(`thread ${asking.thread_id}: asks`);
  await move();

  expect(await to.assistants.get(polite.assistant_id)).toMatchObject({
    name: 'Polite',
    context: { tone: 'polite' },
    config: { recursion_limit: 7 },
    metadata: { team: 'support' },
  });
  expect(await to.threads.getState(done.thread_id)).toMatchObject({
    next: [],
    values: { text: 'short', log: ['draft'] },
  });
  expect(await to.threads.get(done.thread_id)).toMatchObject({ status: 'idle', metadata: { owner: 'ann' } });
  expect(await to.threads.get(fresh.thread_id)).toMatchObject({ metadata: { note: 'never used' } });
  expect(await to.threads.getState(asking.thread_id)).toMatchObject({ next: ['approve'] });
  const command = { resume: 'yes' };
  expect(await to.runs.wait(asking.thread_id, polite.assistant_id, { command })).toMatchObject({
    log: ['draft', 'approve:yes'],
  });
  expect((await to.store.searchItems(['facts', 'user-1'], { limit: 100 })).items).toHaveLength(40);
  expect(await to.threads.count()).toBe(3);
});
