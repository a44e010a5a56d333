import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { columns } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  a2aPushRepository,
  MAX_PUSH_CONFIGS,
  type NewPushConfig,
} from '../../../src/extensions/a2a/storage/push-configs.ts';
import { a2aTaskRepository } from '../../../src/extensions/a2a/storage/tasks.ts';
import { a2aTurns } from '../../../src/extensions/a2a/storage/turns.ts';
import { Riders } from '../../../src/storage/riders.ts';
import { webhookOutbox } from '../../../src/storage/webhooks/outbox.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { newRun, newThread, queueStory, request, WORKER } from '../../support/queued-runs.ts';

const OWNER = { metadata: { contains: { owner: 'ann' } } };
const OTHER = { metadata: { contains: { owner: 'bob' } } };
const WAITS = { state: 'TASK_STATE_INPUT_REQUIRED', artifacts: [] };

function subscriber(given: Partial<NewPushConfig> = {}): NewPushConfig {
  const url = 'https://receiver.example/told';
  return {
    config_id: undefined,
    version: '1.0',
    url,
    token: 't',
    scheme: 'Bearer',
    credentials: 's3cret',
    ...given,
  };
}

/** A task of Ann's with a subscriber. */
async function story(db: Db) {
  const { queue } = queueStory(db, { riders: new Riders([a2aTurns]) });
  const [tasks, push, outbox] = [a2aTaskRepository(db), a2aPushRepository(db), webhookOutbox(db)];
  const run = newRun(randomUUID());
  await queue.enqueue({
    ...request(run),
    thread: { if_missing: { ...newThread(run.thread_id), metadata: { owner: 'ann' } } },
    cargo: {
      a2a: {
        task: { is_new: true, context_id: 'c' },
        position: 0,
        message: {},
        push: subscriber({ version: '0.3' }),
      },
    },
  });
  const task_id = run.run_id;
  async function settle(state = WAITS) {
    const row = await tasks.get(task_id);
    if (!row) throw new Error('no task');
    return tasks.finalize({ row, result: state, notification: (version) => JSON.stringify({ version }) });
  }
  async function sent() {
    const claimed = await outbox.claim({
      host: 'receiver.example',
      token: randomUUID(),
      worker_id: WORKER.worker_id,
      limit: 10,
      lease_ms: 1,
    });
    return claimed.map(({ body, headers }) => ({ body: JSON.parse(body), headers }));
  }
  return { task_id, tasks, push, outbox, settle, sent };
}

describeEachStorage('subscribers of a task of A2A', (open) => {
  test('are stored with the run, and are notified of each final state, once', async () => {
    await using db = await open();
    const { task_id, push, settle, sent } = await story(db);
    expect(await push.list(task_id)).toMatchObject([{ task_id, config_id: task_id, version: '0.3' }]);
    await push.save(task_id, subscriber({ config_id: 'new', scheme: null, credentials: null }));
    expect(await settle()).toBe(true);
    const traceparent = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(await sent()).toEqual([
      {
        body: { version: '0.3' },
        headers: {
          traceparent,
          'content-type': 'application/json',
          'x-a2a-notification-token': 't',
          authorization: 'Bearer s3cret',
        },
      },
      {
        body: { version: '1.0' },
        headers: { traceparent, 'content-type': 'application/a2a+json', 'x-a2a-notification-token': 't' },
      },
    ]);
  });

  test('are notified for the owner of the thread also if the run was deleted meanwhile', async () => {
    await using db = await open();
    const { tasks, task_id, sent } = await story(db);
    const row = await tasks.get(task_id);
    if (!row) throw new Error('no task');
    await db.run(sql`delete from runs`);
    expect(await tasks.finalize({ row, result: WAITS, notification: () => '{}' })).toBe(true);
    const stored = await db.get(sql`select ${columns('webhook_outbox', 'metadata')} from webhook_outbox`);
    expect(JSON.parse(stored?.metadata ?? '{}')).toEqual({ owner: 'ann' });
    expect((await sent())[0]?.headers).not.toHaveProperty('traceparent');
  });

  test('are not notified of what another process finalized', async () => {
    await using db = await open();
    const { tasks, task_id, outbox, settle } = await story(db);
    const row = await tasks.get(task_id);
    if (!row) throw new Error('no task');
    await settle();
    const late = { row, result: WAITS, notification: () => '{}' };
    expect(await tasks.finalize(late)).toBe(false);
    expect(await outbox.search({ limit: 10, offset: 0 })).toHaveLength(1);
  });

  test('that are deleted lose their pending deliveries', async () => {
    await using db = await open();
    const { task_id, push, settle, sent } = await story(db);
    await settle();
    await push.delete(task_id, task_id);
    expect([await push.list(task_id), await sent()]).toEqual([[], []]);
  });

  test('are limited per task, even when they are added concurrently', async () => {
    await using db = await open();
    const { task_id, push } = await story(db);
    const ids = Array.from({ length: MAX_PUSH_CONFIGS + 3 }, (_, n) => `${n}`);
    const saved = await Promise.all(ids.map((config_id) => push.save(task_id, subscriber({ config_id }))));
    expect(saved.filter((each) => each !== undefined)).toHaveLength(MAX_PUSH_CONFIGS - 1);
    expect(await push.list(task_id)).toHaveLength(MAX_PUSH_CONFIGS);
    expect(await push.save(randomUUID(), subscriber())).toBeUndefined();
  });

  test('have deliveries that only users who may see the thread can see', async () => {
    await using db = await open();
    const { outbox, settle } = await story(db);
    await settle();
    const search = { limit: 10, offset: 0 };
    expect(await outbox.search(search, OWNER)).toHaveLength(1);
    expect(await outbox.search(search, OTHER)).toEqual([]);
  });
});
