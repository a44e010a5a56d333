import type { FastifyReply } from 'fastify';
import type { Run } from '../schemas/runs.ts';
import type { CursorPage, Page } from '../services/pagination.ts';

export const PAGE_HEADERS = {
  'X-Pagination-Total': 'The number of rows up to the end of this page, plus one if more follow.',
  'X-Pagination-Next': 'The offset of the next page; absent on the last one.',
};

export const CURSOR_HEADERS = {
  'X-Pagination-Next': 'The cursor of the next page; absent on the last one.',
};

export const RUN_HEADERS = { 'Content-Location': 'The path of the run.' };
/** Headers of replies that can be resumed after a lost connection. */
export const RECONNECT_HEADERS = {
  ...RUN_HEADERS,
  Location: 'The path to reconnect to if the connection is lost.',
};
export const STREAM_HEADERS = {
  ...RUN_HEADERS,
  Location: 'The path to resume the stream at if the connection is lost. Only for resumable runs.',
};

/** Sends a `T` that is already serialized as JSON, UTF-8. */
export function jsonReply<T>(reply: FastifyReply, json: Uint8Array): T {
  reply.type('application/json; charset=utf-8');
  return json as unknown as T;
}

/** Sends the rows of a page with pagination headers. Rows hold only the selected fields. */
export function paged<T>(
  reply: FastifyReply,
  { items, next, total }: Page<Partial<T>, number | string>,
): T[] {
  reply.header('x-pagination-total', total);
  if (next !== undefined) reply.header('x-pagination-next', next);
  return items as T[];
}

/** The same for a page that continues at a cursor. */
export function pagedByCursor<T>(reply: FastifyReply, { items, next }: CursorPage<Partial<T>>): T[] {
  if (next !== undefined) reply.header('x-pagination-next', next);
  return items as T[];
}

/**
 * `Content-Location` of the run, and `Location` to reconnect to. Paths lack the mount prefix: clients append them to
 * their base URL (contract §5 "Reconnect contract").
 */
export function runHeaders(run: Pick<Run, 'run_id' | 'thread_id'>, reconnect?: 'stream' | 'join') {
  return locationHeaders(`/threads/${run.thread_id}/runs/${run.run_id}`, reconnect);
}

/** The same for a stateless run. */
export function statelessRunHeaders(run: Pick<Run, 'run_id'>, reconnect?: 'stream') {
  return locationHeaders(`/runs/${run.run_id}`, reconnect);
}

/**
 * Where a lost stream of the run resumes: nowhere unless its events are stored. A client that came back would miss some
 * of them without notice, and for `Location` the SDKs ask for the run after each stream.
 */
export function streamLocation({ kwargs }: Pick<Run, 'kwargs'>): 'stream' | undefined {
  return kwargs.resumable ? 'stream' : undefined;
}

function locationHeaders(path: string, reconnect: string | undefined): Record<string, string> {
  return { 'content-location': path, ...(reconnect ? { location: `${path}/${reconnect}` } : {}) };
}
