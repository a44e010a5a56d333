import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { naming } from '../support/naming.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const MISSING = '00000000-0000-4000-8000-000000000000';
const ALL = { limit: 10, offset: 0 };

async function threeVersions(services: Awaited<ReturnType<typeof openServices>>) {
  const { assistants } = services;
  const { assistant_id } = await assistants.create(actor, {
    graph_id: 'echo',
    if_exists: 'raise',
    context: { of: 1 },
    metadata: { first: true },
    name: 'one',
    description: 'the first',
  });
  await assistants.update(actor, assistant_id, { graph_id: 'counter', context: { of: 2 }, name: 'two' });
  await assistants.update(actor, assistant_id, { metadata: { third: true }, description: 'the third' });
  return assistant_id;
}

test('versions of an assistant are listed newest first, without updated_at', async () => {
  await using services = await openServices();
  const assistant_id = await threeVersions(services);
  const versions = await services.assistants.versions(actor, assistant_id, ALL);
  expect(versions.map(({ version }) => version)).toEqual([3, 2, 1]);
  expect(Object.keys(versions[2] ?? {}).sort()).toEqual([
    'assistant_id',
    'config',
    'context',
    'created_at',
    'description',
    'graph_id',
    'metadata',
    'name',
    'version',
  ]);
  expect(versions[2]).toMatchObject({ graph_id: 'echo', context: { of: 1 }, metadata: { first: true } });
});

test('versions of an assistant can be searched and paged, and an empty result is a 404', async () => {
  await using services = await openServices();
  const assistant_id = await threeVersions(services);
  const { assistants } = services;
  const third = await assistants.versions(actor, assistant_id, { ...ALL, metadata: { third: true } });
  expect(third.map(({ version }) => version)).toEqual([3]);
  const second = await assistants.versions(actor, assistant_id, { limit: 1, offset: 1 });
  expect(second.map(({ version }) => version)).toEqual([2]);
  const refusal = { status: 404, message: `Assistant ${assistant_id} not found` };
  await expect(assistants.versions(actor, assistant_id, { limit: 1, offset: 3 })).rejects.toMatchObject(
    refusal,
  );
  await expect(assistants.versions(actor, MISSING, ALL)).rejects.toMatchObject({ status: 404 });
});

test('switching to an earlier version restores every field', async () => {
  await using services = await openServices();
  const assistant_id = await threeVersions(services);
  const back = await services.assistants.setLatest(actor, assistant_id, 1);
  expect(back).toMatchObject({
    version: 1,
    graph_id: 'echo',
    config: { configurable: { of: 1 } },
    context: { of: 1 },
    metadata: { first: true },
    name: 'one',
    description: 'the first',
  });
  expect(await services.assistants.get(actor, assistant_id)).toEqual(back);
});

test('an update after a switch to an earlier version is numbered after the highest version', async () => {
  await using services = await openServices();
  const assistant_id = await threeVersions(services);
  await services.assistants.setLatest(actor, assistant_id, 1);
  expect(await services.assistants.update(actor, assistant_id, { name: 'four' })).toMatchObject({
    version: 4,
    name: 'four',
    context: { of: 1 },
    metadata: { first: true },
  });
});

test('the error for a missing version of an assistant names the version', async () => {
  await using services = await openServices();
  const assistant_id = await threeVersions(services);
  await expect(services.assistants.setLatest(actor, assistant_id, 99)).rejects.toMatchObject({
    status: 404,
    message: naming(99, assistant_id),
  });
  await expect(services.assistants.setLatest(actor, MISSING, 1)).rejects.toMatchObject({
    status: 404,
    message: `Assistant ${MISSING} not found`,
  });
});
