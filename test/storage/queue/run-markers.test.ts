import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import type { RunKwargs } from '../../../src/schemas/runs.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import type { RunMarkers } from '../../../src/storage/runs/markers.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { KWARGS, MARKERS, newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';

/** What a client could write into `kwargs` to pretend to a decision of the server. */
const IN_KWARGS: [string, Partial<RunKwargs>][] = [
  ['nothing', {}],
  ['event streaming', marked({ __event_streaming_v2: true })],
  ['a cron', marked({ cron_id: randomUUID() })],
  ['a task', marked({ protocol: { name: 'a2a', version: '1.0' } })],
  ['a tool call', marked({ protocol: { name: 'mcp', version: '1' } })],
  ['a thread of its own', { temporary: true, on_completion: 'delete' }],
  ['a thread that is kept', { temporary: true, on_completion: 'keep' }],
  ['a thread that is kept for an answer', { temporary: true, on_completion: 'keep_interrupted' }],
];

function marked(configurable: Record<string, unknown>): Partial<RunKwargs> {
  return { config: { configurable: { ...KWARGS.config.configurable, ...configurable } } };
}

async function claimedFrom(db: Db): Promise<ClaimedRun | undefined> {
  const claim = { worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 };
  return (await queueStory(db).queue.claim(claim))[0];
}

describeEachStorage('the markers of a run', (open) => {
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
