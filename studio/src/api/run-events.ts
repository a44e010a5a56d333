import { api, dataOf, type Schemas } from './client.ts';
import type { StreamEvent } from './event-stream.ts';
import { followStream } from './follow-stream.ts';

type Place = Pick<Schemas['Run'], 'thread_id' | 'run_id'>;

/**
 * All events of a run, from the first one until it ends; the server stores them. Throws `ApiError` if the server rejects the
 * request.
 */
export function runEvents(path: Place, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  return followStream(
    {
      join(last, signal) {
        const params = { path, header: { 'Last-Event-Id': last } };
        return dataOf(
          api.GET('/threads/{thread_id}/runs/{run_id}/stream', { params, parseAs: 'stream', signal }),
        );
      },
      async isOver() {
        const { status } = await dataOf(api.GET('/threads/{thread_id}/runs/{run_id}', { params: { path } }));
        return status !== 'pending' && status !== 'running';
      },
    },
    signal,
  );
}
