import { expect, test } from 'vitest';
import { type AccessEvent, type Actor, systemActor } from '../../src/auth/actor.ts';
import { NotFound } from '../../src/core/errors.ts';
import { openServices } from '../support/services.ts';

const signal = new AbortController().signal;

/** Somebody who owns what they make and sees nothing else, and whom nobody lets do what is `forbidden`. */
function owner(identity: string, seen: AccessEvent[] = []): Actor {
  return {
    ...systemActor('test'),
    user: { identity, permissions: [] },
    rules: [
      (event, value) => {
        seen.push(event);
        if (/:(create|update|create_run)$/.test(event)) {
          value['metadata'] = { ...(value['metadata'] as object), owner: identity };
        }
        return { metadata: { contains: { owner: identity } } };
      },
    ],
  };
}

const ALICE = owner('alice');
const BOB = owner('bob');
const RUN = { assistant_id: 'echo', input: {} };

test('a created row has its user as the owner, even if the client sends another one', async () => {
  await using services = await openServices();
  const thread = await services.threads.create(ALICE, {
    if_exists: 'raise',
    metadata: { owner: 'bob', a: 1 },
  });
  expect(thread.metadata).toEqual({ owner: 'alice', a: 1 });
  const patched = await services.threads.update(ALICE, thread.thread_id, { metadata: { owner: 'bob' } });
  expect(patched.metadata['owner']).toBe('alice');
  const assistant = await services.assistants.create(ALICE, { graph_id: 'echo', if_exists: 'raise' });
  expect(assistant.metadata).toEqual({ owner: 'alice' });
  const run = await services.runs.create(ALICE, thread.thread_id, RUN, 'background');
  expect(run.metadata['owner']).toBe('alice');
});

test("another user's thread is 404", async () => {
  await using services = await openServices();
  const { threads, threadState, runs } = services;
  const { thread_id } = await threads.create(ALICE, { if_exists: 'raise', metadata: { graph_id: 'echo' } });
  const run = await runs.create(ALICE, thread_id, { ...RUN, after_seconds: 1000 }, 'background');
  const { run_id } = run;
  const missing = `Thread with ID ${thread_id} not found`;

  await expect(threads.get(BOB, thread_id)).rejects.toThrow(missing);
  await expect(threads.update(BOB, thread_id, { metadata: { a: 1 } })).rejects.toThrow('Not Found');
  await expect(threads.delete(BOB, thread_id)).rejects.toThrow(missing);
  await expect(threads.storage(BOB, thread_id)).rejects.toThrow(missing);
  await expect(threads.copy(BOB, thread_id)).rejects.toThrow('Conflict');
  await expect(threads.create(BOB, { thread_id, if_exists: 'do_nothing' })).rejects.toThrow('already exists');
  await expect(threads.prune(BOB, { thread_ids: [thread_id], strategy: 'delete' })).rejects.toThrow(NotFound);
  await expect(threadState.get(BOB, thread_id, {})).rejects.toThrow(missing);
  await expect(threadState.history(BOB, thread_id, { limit: 1 })).rejects.toThrow(missing);
  await expect(threadState.update(BOB, thread_id, { values: {} })).rejects.toThrow(missing);
  await expect(runs.list(BOB, thread_id, { limit: 10, offset: 0 })).rejects.toThrow(missing);
  await expect(runs.get(BOB, thread_id, run_id)).rejects.toThrow('Not Found');
  await expect(runs.get(BOB, undefined, run_id)).rejects.toThrow('Not Found');
  await expect(runs.join(BOB, thread_id, run_id, signal)).rejects.toThrow('not found');
  await expect(runs.delete(BOB, thread_id, run_id)).rejects.toThrow('Run not found');
  const how = { action: 'interrupt', wait: false } as const;
  await expect(runs.cancel(BOB, thread_id, run_id, how, signal)).rejects.toThrow(NotFound);
  await expect(runs.cancelMany(BOB, { status: 'all' }, 'interrupt')).rejects.toThrow(NotFound);
  await expect(runs.cancelMany(BOB, { thread_id, run_ids: [run_id] }, 'interrupt')).rejects.toThrow(NotFound);
  for (const if_not_exists of ['reject', 'create'] as const) {
    const create = runs.create(BOB, thread_id, { ...RUN, if_not_exists }, 'background');
    await expect(create).rejects.toThrow(NotFound);
  }

  expect((await threads.get(ALICE, thread_id)).metadata['owner']).toBe('alice');
  expect((await runs.get(ALICE, thread_id, run_id)).status).toBe('pending');
});

test('lists and counts omit rows of other users', async () => {
  await using services = await openServices();
  const { threads, assistants } = services;
  const mine = await threads.create(ALICE, { if_exists: 'raise' });
  await threads.create(BOB, { if_exists: 'raise' });
  const own = await assistants.create(ALICE, { graph_id: 'echo', if_exists: 'raise' });
  await assistants.create(BOB, { graph_id: 'echo', if_exists: 'raise' });
  const page = { limit: 10, offset: 0, sort_order: 'desc', sort_by: 'created_at' } as const;

  expect((await threads.search(ALICE, page)).items.map((thread) => thread.thread_id)).toEqual([
    mine.thread_id,
  ]);
  expect(await threads.count(ALICE, {})).toBe(1);
  const found = await assistants.search(ALICE, page);
  expect(found.items.map((assistant) => assistant.assistant_id)).toEqual([own.assistant_id]);
  expect(await assistants.count(ALICE, {})).toBe(1);
});

test("another user's assistant is 404, and system assistants are visible to all users", async () => {
  await using services = await openServices();
  const { assistants, runs, threads } = services;
  const { assistant_id } = await assistants.create(ALICE, { graph_id: 'echo', if_exists: 'raise' });

  await expect(assistants.get(BOB, assistant_id)).rejects.toThrow('Not Found');
  await expect(assistants.update(BOB, assistant_id, { name: 'mine' })).rejects.toThrow('not found');
  await expect(assistants.delete(BOB, assistant_id, { delete_threads: true })).rejects.toThrow('not found');
  await expect(assistants.versions(BOB, assistant_id, { limit: 10, offset: 0 })).rejects.toThrow('not found');
  await expect(assistants.setLatest(BOB, assistant_id, 1)).rejects.toThrow('not found');
  await expect(assistants.schemas(BOB, assistant_id)).rejects.toThrow('Not Found');
  await expect(
    assistants.create(BOB, { assistant_id, graph_id: 'echo', if_exists: 'do_nothing' }),
  ).rejects.toThrow('already exists');
  const { thread_id } = await threads.create(BOB, { if_exists: 'raise' });
  await expect(runs.create(BOB, thread_id, { assistant_id }, 'background')).rejects.toThrow('not found');
  expect((await runs.create(BOB, thread_id, RUN, 'background')).status).toBe('pending');
});

test('auth handlers get the action and the resource', async () => {
  await using services = await openServices();
  const seen: AccessEvent[] = [];
  const actor = owner('carol', seen);
  const { thread_id } = await services.threads.create(actor, { if_exists: 'raise' });
  const run = await services.runs.create(actor, thread_id, RUN, 'background');
  await services.runs.cancel(actor, thread_id, run.run_id, { action: 'interrupt', wait: false }, signal);
  await services.threads.copy(actor, thread_id);
  await services.threads.delete(actor, thread_id);
  expect(seen).toEqual([
    'threads:create',
    'threads:create_run',
    'assistants:read',
    'threads:update',
    'threads:read',
    'threads:create',
    'threads:delete',
  ]);
});
