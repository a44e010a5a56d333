import { api, dataOf, type Schemas } from './client.ts';

/** Stream modes of runs started by Studio, so that a chat can follow each from its start. */
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
