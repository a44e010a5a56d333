import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { systemAssistantId } from '../../src/core/ids.ts';
import { AssistantSearch } from '../../src/schemas/assistants.ts';
import type { OpenStorage } from '../../src/storage/storage.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const EVERYTHING = AssistantSearch.parse({ sort_by: 'name', sort_order: 'asc' });

test('each graph has a system assistant under the same id on every server', async () => {
  await using services = await openServices({ graphs: ['echo', 'plain-js'] });
  const { items } = await services.assistants.search(actor, EVERYTHING);
  expect(items).toMatchObject([
    {
      assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
      graph_id: 'echo',
      name: 'echo',
      description: null,
      metadata: { created_by: 'system' },
      config: {},
      context: {},
      version: 1,
    },
    { graph_id: 'plain-js', name: 'plain-js', description: 'Says it louder.' },
  ]);
});

test('a start updates names and descriptions of system assistants and keeps changes by clients', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  await services.assistants.update(actor, 'echo', { name: 'renamed', context: { kept: true } });
  await services.assistants.syncSystem();
  expect(await services.assistants.get(actor, 'echo')).toMatchObject({
    name: 'echo',
    context: { kept: true },
    version: 2,
  });
});

test('a system assistant has the configured defaults until a client changes it', async () => {
  const start = (model: string, storage?: OpenStorage) =>
    openServices({
      graphs: ['echo'],
      defaults: { echo: { tags: ['own'], context: { model } } },
      ...(storage && { storage }),
    });
  await using first = await start('small');
  const { storage } = first;
  expect(await first.assistants.get(actor, 'echo')).toMatchObject({
    config: { tags: ['own'], configurable: { model: 'small' } },
    context: { model: 'small' },
  });

  await using second = await start('large', storage);
  const versions = await second.assistants.versions(actor, 'echo', { limit: 10, offset: 0 });
  expect(versions).toMatchObject([{ version: 1, context: { model: 'large' } }]);

  await second.assistants.update(actor, 'echo', { config: {}, context: { model: 'mine' } });
  await using third = await start('small', storage);
  expect(await third.assistants.get(actor, 'echo')).toMatchObject({ version: 2, context: { model: 'mine' } });
});

test('a start deletes the assistant of a removed graph, restores a deleted one, and keeps those created by clients', async () => {
  await using services = await openServices({ graphs: ['echo', 'counter'] });
  const own = await services.assistants.create(actor, {
    graph_id: 'counter',
    if_exists: 'raise',
    metadata: { created_by: 'system' },
  });
  await services.assistants.delete(actor, 'echo', { delete_threads: false });
  await using restarted = await openServices({ graphs: ['echo', 'tokens'], storage: services.storage });
  const { items } = await restarted.assistants.search(actor, EVERYTHING);
  expect(items.map(({ assistant_id }) => assistant_id).sort()).toEqual(
    [own.assistant_id, systemAssistantId('echo'), systemAssistantId('tokens')].sort(),
  );
});

test('the name of a graph is accepted in place of the id of its assistant everywhere', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  const { assistants } = services;
  const assistant_id = systemAssistantId('echo');
  expect(await assistants.get(actor, 'echo')).toMatchObject({ assistant_id });
  expect(await assistants.get(actor, assistant_id.toUpperCase())).toMatchObject({ assistant_id });
  expect(await assistants.resolve(actor, 'echo')).toMatchObject({ assistant_id });
  expect(await assistants.update(actor, 'echo', { description: 'd' })).toMatchObject({
    assistant_id,
    version: 2,
  });
  expect(await assistants.versions(actor, 'echo', { limit: 10, offset: 0 })).toHaveLength(2);
  expect(await assistants.setLatest(actor, 'echo', 1)).toMatchObject({ assistant_id, description: null });
  await assistants.delete(actor, 'echo', { delete_threads: false });
  await expect(assistants.get(actor, 'echo')).rejects.toMatchObject({ status: 404 });
});

test('a run of an unknown assistant is refused with the list of graphs', async () => {
  await using services = await openServices({ graphs: ['counter', 'echo'] });
  await expect(services.assistants.resolve(actor, 'nope')).rejects.toMatchObject({
    status: 422,
    message:
      "Invalid assistant: 'nope'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: counter, echo\nNo assistant found for 'nope'.",
  });
  const missing = '00000000-0000-4000-8000-000000000000';
  await expect(services.assistants.resolve(actor, missing)).rejects.toMatchObject({ status: 404 });
});

test('a start keeps the assistants of graphs of another live process, and deletes them once it has ended', async () => {
  await using services = await openServices({ graphs: ['echo', 'counter'] });
  const { storage } = services;
  const other = {
    worker_id: randomUUID(),
    host: 'there',
    pid: 1,
    version: '1',
    slots: 1,
    graph_ids: ['counter'],
  };
  await storage.queue.heartbeat(other, 60_000);
  await using fewer = await openServices({ graphs: ['echo'], storage });
  const names = async () => (await fewer.assistants.search(actor, EVERYTHING)).items.map(({ name }) => name);
  expect(await names()).toEqual(['counter', 'echo']);

  await storage.queue.deregister(other.worker_id);
  await fewer.assistants.syncSystem();
  expect(await names()).toEqual(['echo']);
});
