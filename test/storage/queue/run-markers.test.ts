import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { toJson } from '../../../src/core/json.ts';
import type { Db } from '../../../src/db/db.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { migrations } from '../../../src/db/migrations/index.ts';
import { sql } from '../../../src/db/sql.ts';
import type { RunKwargs } from '../../../src/schemas/runs.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import type { RunMarkers } from '../../../src/storage/runs/markers.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { KWARGS, MARKERS, newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';

/** What servers before migration 013 wrote into `kwargs` for themselves. */
const IN_KWARGS: [string, Partial<RunKwargs>, Partial<RunMarkers>][] = [
  ['nothing', {}, {}],
  ['event streaming', marked({ __event_streaming_v2: true }), { is_event_streaming: true }],
  ['a cron', marked({ cron_id: randomUUID() }), { is_of_cron: true }],
  ['a task', marked({ protocol: { name: 'a2a', version: '1.0' } }), { is_of_task: true }],
  ['a tool call', marked({ protocol: { name: 'mcp', version: '1' } }), {}],
  ['a thread of its own', { temporary: true, on_completion: 'delete' }, { thread_retention: 'delete' }],
  ['a thread that is kept', { temporary: true, on_completion: 'keep' }, { thread_retention: 'keep' }],
  [
    'a thread that is kept for an answer',
    { temporary: true, on_completion: 'keep_interrupted' },
    { thread_retention: 'keep_interrupted' },
  ],
];

function marked(configurable: Record<string, unknown>): Partial<RunKwargs> {
  return { config: { configurable: { ...KWARGS.config.configurable, ...configurable } } };
}

async function claimedFrom(db: Db): Promise<ClaimedRun | undefined> {
  const claim = { worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 };
  return (await queueStory(db).queue.claim(claim))[0];
}

/** As a server that knows nothing of the columns enqueues it. */
async function insertOldRun(db: Db, kwargs: Partial<RunKwargs>): Promise<void> {
  const run = newRun(randomUUID());
  const { run_id, thread_id, created_at: at } = run;
  const sealed = db.cipher.encryptJson('runs.kwargs', toJson({ ...KWARGS, ...kwargs }));
  await db.run(sql`insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at)
    values (${thread_id}, 'busy', '{}', ${db.cipher.encryptJson('threads.config', '{}')}, ${at}, ${at}, ${at})`);
  await db.run(sql`insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy,
      attempt, created_at, updated_at)
    values (${run_id}, ${thread_id}, ${run.assistant_id}, 'pending', '{}', ${sealed}, 'enqueue', 0, ${at}, ${at})`);
  await db.run(sql`insert into run_queue (run_id, thread_id, state, not_before)
    values (${run_id}, ${thread_id}, 'ready', ${at})`);
}

describeEachStorage('the markers of a run', (open) => {
  test.each(IN_KWARGS)('that was enqueued before their columns are read from kwargs: %s', async (...row) => {
    const [, kwargs, markers] = row;
    await using db = await open({ migrated: false });
    await migrate(
      db,
      migrations.filter(({ version }) => version < 13),
    );
    await insertOldRun(db, kwargs);
    await migrate(db);
    expect((await claimedFrom(db))?.markers).toEqual({ ...MARKERS, ...markers });
  });

  test.each(IN_KWARGS)('are read from its row, although its kwargs have %s', async (_, kwargs) => {
    await using db = await open();
    const run = newRun(randomUUID());
    await queueStory(db).queue.enqueue(request({ ...run, kwargs: { ...KWARGS, ...kwargs } }));
    expect((await claimedFrom(db))?.markers).toEqual(MARKERS);
  });

  test('are read as they were enqueued, and are not part of the run that clients see', async () => {
    await using db = await open();
    const markers: RunMarkers = {
      is_event_streaming: true,
      is_of_cron: true,
      is_of_task: true,
      thread_retention: 'keep_interrupted',
    };
    const run = newRun(randomUUID());
    await queueStory(db).queue.enqueue(request(run, markers));
    const claimed = await claimedFrom(db);
    expect(claimed?.markers).toEqual(markers);
    expect(Object.keys({ ...claimed?.run, langsmith_session_name: null }).sort()).toEqual(
      Object.keys(run).sort(),
    );
  });
});
