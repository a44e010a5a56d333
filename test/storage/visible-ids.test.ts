import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { visibleIds } from '../../src/storage/access/visible-ids.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { cronRepository } from '../../src/storage/crons/crons.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { webhookOutbox } from '../../src/storage/webhooks/outbox.ts';
import { NOON } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { delivery } from '../support/outbox.ts';
import { newThread, queueStory } from '../support/queued-runs.ts';

const JANE = { metadata: { contains: { owner: 'jane' } } };

describeEachDatabase('the visibility of rows by id', (open) => {
  test('is decided by their owner, and for runs by that of their thread', async () => {
    await using db = await open();
    const { add } = queueStory(db);
    for (const kind of ['run', 'thread'] as const) {
      const [jane, john] = [randomUUID(), randomUUID()];
      for (const [thread_id, owner] of [
        [jane, 'jane'],
        [john, 'john'],
      ] as const)
        await threadRepository(db).insert({ ...newThread(thread_id), metadata: { owner } });
      const ids = kind === 'thread' ? [jane, john] : [await add(jane), await add(john)];
      expect(await visibleIds(db, kind, [...ids, randomUUID()], JANE)).toEqual([ids[0]]);
    }
  });

  test('is decided by the owner for assistants, crons and deliveries', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const deliveries = [
      await outbox.enqueue(delivery({ metadata: { owner: 'john' } })),
      await outbox.enqueue(delivery({ metadata: { owner: 'jane' } })),
    ];
    expect(await visibleIds(db, 'delivery', deliveries, JANE)).toEqual([deliveries[1]]);

    const assistants = [randomUUID(), randomUUID()];
    const crons = [randomUUID(), randomUUID()];
    for (const [i, owner] of ['john', 'jane'].entries()) {
      const shared = { metadata: { owner }, created_at: NOON, updated_at: NOON };
      const assistant_id = assistants[i] as string;
      await assistantRepository(db).insert({
        ...{ ...shared, assistant_id, graph_id: 'echo', name: 'echo', description: null },
        ...{ config: {}, context: {}, version: 1 },
      });
      await cronRepository(db).insert({
        ...{ ...shared, cron_id: crons[i] as string, assistant_id, thread_id: null, user_id: owner },
        ...{ schedule: '0 * * * *', timezone: null, end_time: null, ends_at: null, next_run_date: null },
        ...{ payload: {}, on_run_completed: null, enabled: true, disabled_reason: null, run_as: null },
        made_by_cron: null,
      });
    }
    expect(await visibleIds(db, 'assistant', assistants, JANE)).toEqual([assistants[1]]);
    expect(await visibleIds(db, 'cron', crons, JANE)).toEqual([crons[1]]);
  });
});
