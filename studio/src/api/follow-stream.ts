import { ApiError } from './client.ts';
import { eventsOf, type StreamEvent } from './event-stream.ts';
import { untilSignedIn } from './query-client.ts';
import { untilVisible, watchVisibility } from './visibility.ts';

/** First and longest wait before a stream is rejoined, ms. `asked` caps what the server may ask for. */
const RETRY_MS = { first: 250, most: 5_000, asked: 60_000 };

/** Temporary rejections: request timeout and too many requests. */
const TEMPORARY = [408, 429];

export interface Source {
  /** Opens the stream after the event with the id `last`; `-1` before the first one. */
  readonly join: (last: string, signal: AbortSignal) => Promise<unknown>;
  /** Called when a stream has ended. True if nothing will follow. */
  readonly isOver: () => Promise<boolean>;
}

/**
 * The events of a stream, each once and in order, until it ends or `signal` aborts. Rejoins after the last event when the
 * connection is lost, the server restarts, the page is visible again, or its caller is signed in again. A hidden or
 * signed-out page sends no requests. Throws `ApiError` unless the rejection is temporary.
 */
export async function* followStream(
  { join, isOver }: Source,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let last = '-1';
  let wait_ms = RETRY_MS.first;
  while (!signal.aborted) {
    let asked_ms = 0;
    const connection = new AbortController();
    const letGo = () => connection.abort();
    signal.addEventListener('abort', letGo, { once: true });
    const unwatch = watchVisibility(letGo, () => {});
    try {
      const body = (await join(last, connection.signal)) as ReadableStream<Uint8Array>;
      for await (const event of eventsOf(body)) {
        if (event.id !== undefined) last = event.id;
        wait_ms = RETRY_MS.first;
        yield event;
      }
      if (await isOver()) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) await untilSignedIn(signal);
      else if (error instanceof ApiError) {
        if (error.status < 500 && !TEMPORARY.includes(error.status)) throw error;
        asked_ms = Math.min(RETRY_MS.asked, error.retry_after_ms ?? 0);
      }
    } finally {
      unwatch();
      signal.removeEventListener('abort', letGo);
      // The consumer may have stopped early.
      connection.abort();
    }
    await untilVisible(signal);
    await pause(Math.max(wait_ms, asked_ms), signal);
    wait_ms = Math.min(RETRY_MS.most, wait_ms * 2);
  }
}

/** Resolves after the delay, or when `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
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
