import { api, dataOf } from '../../api/client.ts';
import { plural } from '../../ui/format.tsx';
import { saveJson } from '../../ui/save-file.ts';

type Ids = readonly string[];

/** Cancels the active runs of threads. Resolves to a message with their number. */
export async function cancelRuns(thread_ids: Ids): Promise<string> {
  let stopped = 0;
  for (const thread_id of thread_ids) {
    const path = { thread_id };
    const { runs } = await dataOf(api.GET('/threads/{thread_id}/explain', { params: { path } }));
    if (runs.length === 0) continue;
    const run_ids = runs.map(({ run_id }) => run_id);
    await dataOf(api.POST('/runs/cancel', { body: { thread_id, run_ids } }));
    stopped += runs.length;
  }
  return stopped === 0
    ? 'None of these threads has a run to cancel.'
    : `Cancelling ${stopped} ${plural(stopped, 'run')}.`;
}

export async function pruneThreads(thread_ids: Ids, strategy: 'delete' | 'keep_latest'): Promise<string> {
  const body = { thread_ids: [...thread_ids], strategy };
  const { pruned_count } = await dataOf(api.POST('/threads/prune', { body }));
  const done = strategy === 'delete' ? 'Deleted' : 'Pruned';
  return `${done} ${pruned_count} ${plural(pruned_count, 'thread')}.`;
}

/** Resolves to the id of the copy. */
export async function copyThread(thread_id: string): Promise<string> {
  const params = { path: { thread_id } };
  return (await dataOf(api.POST('/threads/{thread_id}/copy', { params }))).thread_id;
}

export async function copyThreads(thread_ids: Ids): Promise<string> {
  for (const thread_id of thread_ids) await copyThread(thread_id);
  return `Created ${thread_ids.length} ${plural(thread_ids.length, 'copy', 'copies')}.`;
}

/** Exports threads with their newest values. */
export async function exportThreads(thread_ids: Ids): Promise<string> {
  const threads = [];
  for (const thread_id of thread_ids) {
    threads.push(await dataOf(api.GET('/threads/{thread_id}', { params: { path: { thread_id } } })));
  }
  saveJson('threads', threads);
  return `Exported ${threads.length} ${plural(threads.length, 'thread')}.`;
}
