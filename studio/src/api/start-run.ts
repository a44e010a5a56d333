import { api, dataOf, type Schemas } from './client.ts';

/** What runs of Studio emit, so that a chat can follow each of them from its beginning. */
const STREAM = {
  stream_mode: ['values' as const, 'messages-tuple' as const, 'custom' as const],
  stream_subgraphs: true,
  stream_resumable: true,
};

/** Starts a run that a chat can follow. */
export function startRun(thread_id: string, run: Schemas['RunCreate']): Promise<Schemas['Run']> {
  const params = { path: { thread_id } };
  return dataOf(api.POST('/threads/{thread_id}/runs', { params, body: { ...STREAM, ...run } }));
}
