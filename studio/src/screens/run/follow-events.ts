import { api, dataOf, type Schemas } from '../../api/client.ts';
import { eventsOf } from '../../api/event-stream.ts';

/** An event of a run as it came. */
export interface RunEvent {
  /** Place in the stream, from 1. */
  readonly number: number;
  /** Mode of the stream, such as `values`; `metadata`, `error` and `end` come in every mode. */
  readonly mode: string;
  /** The subgraph that emitted it, without the ids of its tasks; empty for the graph itself. */
  readonly from: string;
  /** Text of the JSON value. */
  readonly data: string;
  readonly id: string | undefined;
  /** When it arrived here, epoch ms. */
  readonly at: number;
}

/** Older events are dropped: a page cannot hold a run of a day. */
export const MAX_EVENTS = 20_000;

/** First and longest wait before the stream is joined again, ms. */
const RETRY_MS = { first: 500, most: 10_000 };

type Place = Pick<Schemas['Run'], 'thread_id' | 'run_id'>;

/**
 * Joins the stream of a run from its beginning, and again after the last event whenever the connection is lost, until the
 * run has ended. Throws the server's refusal.
 */
export async function followEvents(
  place: Place,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<void> {
  let last = '-1';
  let number = 0;
  let wait_ms = RETRY_MS.first;
  while (!signal.aborted) {
    try {
      const body = await join(place, last, signal);
      for await (const { event, data, id } of eventsOf(body)) {
        if (id !== undefined) last = id;
        number += 1;
        wait_ms = RETRY_MS.first;
        onEvent({ ...nameOf(event), number, data, id, at: Date.now() });
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isLost(error)) throw error;
      await pause(wait_ms, signal);
      wait_ms = Math.min(RETRY_MS.most, wait_ms * 2);
    }
  }
}

async function join({ thread_id, run_id }: Place, last: string, signal: AbortSignal) {
  const body = await dataOf(
    api.GET('/threads/{thread_id}/runs/{run_id}/stream', {
      params: { path: { thread_id, run_id }, header: { 'Last-Event-Id': last } },
      parseAs: 'stream',
      signal,
    }),
  );
  return body as unknown as ReadableStream<Uint8Array>;
}

/** Connections are lost with a `TypeError`; refusals have a status. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'Unreachable');
}

/** `updates|investigate:1f1e…|search:2a…` as the mode and the names. */
function nameOf(event: string): Pick<RunEvent, 'mode' | 'from'> {
  const [mode = event, ...levels] = event.split('|');
  return { mode, from: levels.map((level) => level.replace(/:.*$/, '')).join(' / ') };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
