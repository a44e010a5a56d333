import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { Forbidden } from '../../src/core/errors.ts';
import { AssistantCreate, AssistantSearch } from '../../src/schemas/assistants.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const MISSING = '00000000-0000-4000-8000-000000000000';

function create(input: Partial<AssistantCreate> = {}): AssistantCreate {
  return AssistantCreate.parse({ graph_id: 'echo', ...input });
}

test('an assistant has exactly the fields and defaults of the contract', async () => {
  await using services = await openServices();
  const made = await services.assistants.create(actor, create());
  expect(made).toEqual({
    assistant_id: expect.stringMatching(/^[0-9a-f-]{14}4[0-9a-f-]{21}$/),
    graph_id: 'echo',
    config: {},
    context: {},
    metadata: {},
    name: 'Untitled',
    description: null,
    version: 1,
    created_at: expect.any(String),
    updated_at: made.created_at,
  });
  expect(await services.assistants.get(actor, made.assistant_id)).toEqual(made);
});

test('an assistant of an unknown graph is refused with the list of graphs', async () => {
  await using services = await openServices({ graphs: ['echo', 'counter'] });
  const refusal = { status: 404, message: "Graph 'nope' not found. Expected one of: ['echo', 'counter']" };
  const { assistant_id } = await services.assistants.create(actor, create());
  await expect(services.assistants.create(actor, create({ graph_id: 'nope' }))).rejects.toMatchObject(
    refusal,
  );
  const patch = services.assistants.update(actor, assistant_id, { graph_id: 'nope' });
  await expect(patch).rejects.toMatchObject(refusal);
  const search = services.assistants.search(actor, AssistantSearch.parse({ graph_id: 'nope' }));
  await expect(search).rejects.toMatchObject(refusal);
});

test('creating an assistant with a taken id is a conflict, or returns the stored one on request', async () => {
  await using services = await openServices();
  const first = await services.assistants.create(actor, create({ assistant_id: MISSING, name: 'first' }));
  const again = create({ assistant_id: MISSING, name: 'second', graph_id: 'counter' });
  await expect(services.assistants.create(actor, again)).rejects.toMatchObject({
    status: 409,
    message: `Assistant ${MISSING} already exists`,
  });
  expect(await services.assistants.create(actor, { ...again, if_exists: 'do_nothing' })).toEqual(first);
});

test('configurable and context of an assistant are copied to each other', async () => {
  await using services = await openServices();
  const old = await services.assistants.create(actor, create({ config: { configurable: { a: 1 } } }));
  expect(old).toMatchObject({ config: { configurable: { a: 1 } }, context: { a: 1 } });
  const modern = await services.assistants.create(
    actor,
    create({ context: { a: 1 }, config: { tags: ['t'] } }),
  );
  expect(modern).toMatchObject({ config: { tags: ['t'], configurable: { a: 1 } }, context: { a: 1 } });
});

test('an assistant with both configurable and context is a bad request, even in an update', async () => {
  await using services = await openServices();
  const both = { config: { configurable: { a: 1 } }, context: { a: 1 } };
  const refusal = {
    status: 400,
    message: expect.stringMatching(
      /^Cannot specify both configurable and context\. Prefer setting context alone\./,
    ),
  };
  await expect(services.assistants.create(actor, create(both))).rejects.toMatchObject(refusal);
  const { assistant_id } = await services.assistants.create(actor, create());
  await expect(services.assistants.update(actor, assistant_id, both)).rejects.toMatchObject(refusal);
});

test('an update of an assistant replaces config and context, merges metadata and creates a version', async () => {
  await using services = await openServices();
  const { assistant_id } = await services.assistants.create(
    actor,
    create({ config: { tags: ['old'], configurable: { a: 1 } }, metadata: { kept: 1, changed: 1 } }),
  );
  const changed = await services.assistants.update(actor, assistant_id, {
    config: { configurable: { b: 2 } },
    metadata: { changed: { deep: true } },
    name: 'new name',
  });
  expect(changed).toMatchObject({
    config: { configurable: { b: 2 } },
    context: { b: 2 },
    metadata: { kept: 1, changed: { deep: true } },
    name: 'new name',
    graph_id: 'echo',
    version: 2,
  });
  expect(changed.config).not.toHaveProperty('tags');
  expect(await services.assistants.update(actor, assistant_id, {})).toMatchObject({
    version: 3,
    name: 'new name',
  });
});

test('an update of only the context of an assistant keeps tags and recursion limit', async () => {
  await using services = await openServices();
  const config = { tags: ['kept'], recursion_limit: 7, configurable: { a: 1 } };
  const { assistant_id } = await services.assistants.create(actor, create({ config }));
  expect(await services.assistants.update(actor, assistant_id, { context: { b: 2 } })).toMatchObject({
    config: { tags: ['kept'], recursion_limit: 7, configurable: { b: 2 } },
    context: { b: 2 },
  });
  const emptied = await services.assistants.update(actor, assistant_id, { context: {} });
  expect(emptied).toMatchObject({ config: { tags: ['kept'], recursion_limit: 7 }, context: {} });
  expect(emptied.config).not.toHaveProperty('configurable');
});

test('concurrent updates of an assistant lose no change', async () => {
  await using services = await openServices();
  const { assistants } = services;
  const { assistant_id } = await assistants.create(actor, create({ config: { tags: ['old'] } }));
  await Promise.all([
    assistants.update(actor, assistant_id, { config: { tags: ['new'] } }),
    assistants.update(actor, assistant_id, { context: { b: 2 } }),
  ]);
  expect(await assistants.get(actor, assistant_id)).toMatchObject({ version: 3, config: { tags: ['new'] } });
});

test('a missing assistant is an error with the message of each operation', async () => {
  await using services = await openServices();
  const { assistants } = services;
  await expect(assistants.get(actor, MISSING)).rejects.toMatchObject({ status: 404, message: 'Not Found' });
  await expect(assistants.draw(actor, MISSING, false)).rejects.toMatchObject({ message: 'Not Found' });
  await expect(assistants.schemas(actor, MISSING)).rejects.toMatchObject({ message: 'Not Found' });
  await expect(assistants.subgraphs(actor, MISSING, undefined, false)).rejects.toMatchObject({
    message: 'Not Found',
  });
  await expect(assistants.update(actor, MISSING, {})).rejects.toMatchObject({
    status: 404,
    message: `Assistant ${MISSING} not found`,
  });
  await expect(assistants.delete(actor, MISSING, { delete_threads: false })).rejects.toMatchObject({
    status: 404,
    message: `Assistant with ID ${MISSING} not found`,
  });
  await expect(assistants.get(actor, 'not-a-uuid')).rejects.toMatchObject({
    status: 422,
    message: 'Invalid assistant ID: must be a UUID',
  });
});

test('a search of assistants is paged, and a selection limits its fields', async () => {
  await using services = await openServices();
  for (const name of ['one', 'two', 'three']) {
    await services.assistants.create(actor, create({ name, metadata: { of: 'three' } }));
  }
  const query = { metadata: { of: 'three' }, limit: 2, sort_by: 'name', sort_order: 'asc', select: ['name'] };
  const first = await services.assistants.search(actor, AssistantSearch.parse(query));
  expect(first).toEqual({ items: [{ name: 'one' }, { name: 'three' }], next: 2, total: 3 });
  const last = await services.assistants.search(actor, AssistantSearch.parse({ ...query, offset: 2 }));
  expect(last).toEqual({ items: [{ name: 'two' }], next: undefined, total: 3 });
  expect(await services.assistants.count(actor, { metadata: { of: 'three' } })).toBe(3);
});

test('deleting an assistant deletes its runs', async () => {
  await using services = await openServices();
  const { assistant_id } = await services.assistants.create(actor, create());
  const thread = await services.threads.create(actor, { if_exists: 'raise' });
  const run = await services.runs.create(actor, thread.thread_id, { assistant_id }, 'background');
  await services.assistants.delete(actor, assistant_id, { delete_threads: false });
  await expect(services.assistants.get(actor, assistant_id)).rejects.toMatchObject({ status: 404 });
  await expect(services.runs.get(actor, thread.thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
  expect(await services.threads.get(actor, thread.thread_id)).toMatchObject({ status: 'idle' });
});

test('the threads of a deleted assistant are deleted on request', async () => {
  await using services = await openServices();
  const { assistant_id } = await services.assistants.create(actor, create());
  const [ran, other] = await Promise.all([
    services.threads.create(actor, { if_exists: 'raise' }),
    services.threads.create(actor, { if_exists: 'raise' }),
  ]);
  await services.runs.create(actor, ran.thread_id, { assistant_id }, 'background');
  await services.assistants.delete(actor, assistant_id, { delete_threads: true });
  await expect(services.threads.get(actor, ran.thread_id)).rejects.toMatchObject({ status: 404 });
  expect(await services.threads.get(actor, other.thread_id)).toMatchObject({ status: 'idle' });
});

test('a user who may not delete threads cannot delete an assistant with its threads, and its runs are kept', async () => {
  await using services = await openServices();
  const { assistant_id } = await services.assistants.create(actor, create());
  const { thread_id } = await services.threads.create(actor, { if_exists: 'raise' });
  const { run_id } = await services.runs.create(actor, thread_id, { assistant_id }, 'background');
  const limited: Actor = {
    ...actor,
    rules: [
      (event) => {
        if (event === 'threads:delete') throw new Forbidden('not you');
        return undefined;
      },
    ],
  };
  await expect(
    services.assistants.delete(limited, assistant_id, { delete_threads: true }),
  ).rejects.toMatchObject({ status: 403 });
  expect(await services.assistants.get(actor, assistant_id)).toMatchObject({ assistant_id });
  expect(await services.runs.get(actor, thread_id, run_id)).toMatchObject({ run_id });
});
