import { ApiError, api, dataOf, type Schemas } from './client.ts';
import { eventsOf, type StreamEvent } from './event-stream.ts';
import { untilVisible, watchVisibility } from './visibility.ts';

/** First and longest wait before a stream is joined again, ms. */
const RETRY_MS = { first: 250, most: 5_000 };

type Place = Pick<Schemas['Run'], 'thread_id' | 'run_id'>;

/**
 * The events of a run from its first one, each once and in order, until the run has ended or `signal` aborts. The server
 * keeps them: the stream is joined again after the last one when the connection is lost, when the server restarts, and
 * when the page is seen again; out of sight it asks for nothing. Throws the server's refusal.
 */
export async function* runEvents(place: Place, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  let last = '-1';
  let wait_ms = RETRY_MS.first;
  while (!signal.aborted) {
    const connection = new AbortController();
    const letGo = () => connection.abort();
    signal.addEventListener('abort', letGo, { once: true });
    const unwatch = watchVisibility(letGo, () => {});
    try {
      for await (const event of eventsOf(await join(place, last, connection.signal))) {
        if (event.id !== undefined) last = event.id;
        wait_ms = RETRY_MS.first;
        yield event;
      }
      if (await hasEnded(place)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
    } finally {
      unwatch();
      signal.removeEventListener('abort', letGo);
      connection.abort();
    }
    if (connection.signal.aborted) await untilVisible(signal);
    await pause(wait_ms, signal);
    wait_ms = Math.min(RETRY_MS.most, wait_ms * 2);
  }
}

async function join(path: Place, last: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const params = { path, header: { 'Last-Event-Id': last } };
  const body = await dataOf(
    api.GET('/threads/{thread_id}/runs/{run_id}/stream', { params, parseAs: 'stream', signal }),
  );
  return body as unknown as ReadableStream<Uint8Array>;
}

async function hasEnded(path: Place): Promise<boolean> {
  const { status } = await dataOf(api.GET('/threads/{thread_id}/runs/{run_id}', { params: { path } }));
  return status !== 'pending' && status !== 'running';
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
