import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../../src/auth/actor.ts';
import { toolCatalog, toolNames } from '../../../src/extensions/mcp/tools.ts';
import { partsOf } from '../../support/parts-of.ts';
import { openServices } from '../../support/services.ts';

const ACTOR = systemActor('test');
const ALL = { after: '', limit: 100 };

/** Assistants of these names, each a second younger than the one before. */
function assistants(...given: { name: string; metadata?: object }[]) {
  return given.map(({ name, metadata = {} }, i) => ({
    assistant_id: `0000000${i}-0000-4000-8000-000000000000`,
    name,
    metadata,
    created_at: `2026-01-01T00:00:0${i}.000Z`,
  })) as never;
}

test.each([
  [' Write a\tpoem ', 'Write_a_poem'],
  ['Größe (cm) v1.2-b_c', 'Gre_cm_v1.2-b_c'],
  ['a'.repeat(70), 'a'.repeat(64)],
  ['日本', 'assistant-00000000'],
])('assistant name %j becomes tool name %j', (name, tool) => {
  expect([...toolNames(assistants({ name })).keys()]).toEqual([tool]);
});

test('if several assistants have one tool name, the oldest keeps it', () => {
  const same = assistants({ name: 'My tool' }, { name: 'My  tool' }, { name: 'b'.repeat(64) });
  const more = [...(same as unknown as object[]), { ...(same[2] as object), assistant_id: '77777777-x' }];
  expect([...toolNames(more as never).keys()]).toEqual([
    'My_tool',
    'My_tool-00000001',
    'b'.repeat(64),
    `${'b'.repeat(55)}-77777777`,
  ]);
});

const GRAPHS = { loads: () => 1 };

test('metadata of an assistant can set another tool name, or hide the tool', () => {
  const own = { mcp: { name: 'poet!' } };
  const hidden = { mcp: { expose: false } };
  const tools = toolNames(assistants({ name: 'a', metadata: own }, { name: 'b', metadata: hidden }));
  expect([...tools.keys()]).toEqual(['poet']);
});

test('a tool call finds an assistant by tool name, name, id and graph', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  const tools = toolCatalog({ ...services, graphs: partsOf(GRAPHS) });
  const { assistant_id } = await services.assistants.create(ACTOR, {
    graph_id: 'echo',
    name: 'My poet!',
    if_exists: 'raise',
  });
  for (const name of ['My_poet', 'My poet!', assistant_id]) {
    expect((await tools.find(ACTOR, name))?.name).toBe('My_poet');
  }
  expect((await tools.find(ACTOR, 'echo'))?.assistant.graph_id).toBe('echo');
  expect(await tools.find(ACTOR, 'My')).toBeUndefined();

  await services.assistants.update(ACTOR, assistant_id, { name: 'Critic' });
  expect(await tools.find(ACTOR, 'My_poet')).toBeUndefined();
  expect((await tools.find(ACTOR, 'Critic'))?.assistant.assistant_id).toBe(assistant_id);
  await services.assistants.update(ACTOR, assistant_id, { metadata: { mcp: { expose: false } } });
  for (const name of ['Critic', assistant_id]) expect(await tools.find(ACTOR, name)).toBeUndefined();
});

test('an assistant created by another process can be called at once, and is listed soon', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  await using other = await openServices({ graphs: ['echo'], storage: services.storage });
  const tools = toolCatalog({ ...services, graphs: partsOf(GRAPHS) });
  expect((await tools.list(ACTOR, ALL)).tools).toHaveLength(1);
  await other.assistants.create(ACTOR, { graph_id: 'echo', name: 'Poet', if_exists: 'raise' });
  expect((await tools.list(ACTOR, ALL)).tools).toHaveLength(1);
  services.clock.advance(5000);
  expect((await tools.list(ACTOR, ALL)).tools.map(({ name }) => name)).toEqual(['Poet', 'echo']);

  await other.assistants.create(ACTOR, { graph_id: 'echo', name: 'Critic', if_exists: 'raise' });
  expect((await tools.find(ACTOR, 'Critic'))?.name).toBe('Critic');
  expect((await tools.list(ACTOR, ALL)).tools).toHaveLength(3);
});

test('a page of tools names its last one although its graph does not load', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  const assistants = {
    ...services.assistants,
    listAll: (actor: Actor) => services.assistants.listAll(actor),
    schemas: (actor: Actor, id: string) =>
      id === broken ? Promise.reject(new Error('it does not load')) : services.assistants.schemas(actor, id),
  };
  const create = (name: string) =>
    services.assistants.create(ACTOR, { graph_id: 'echo', name, if_exists: 'raise' });
  const { assistant_id: broken } = await create('b');
  await create('a');
  const tools = toolCatalog({ assistants, graphs: partsOf(GRAPHS) });
  const first = await tools.list(ACTOR, { after: '', limit: 2 });
  expect([first.tools.map(({ name }) => name), first.last]).toEqual([['a'], 'b']);
  const next = await tools.list(ACTOR, { after: 'b', limit: 2 });
  expect([next.tools.map(({ name }) => name), next.last]).toEqual([['echo'], undefined]);
});
