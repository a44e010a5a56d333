import { sleep } from '../../../core/timers.ts';

/** Proxies and clients time out on an idle connection; the SDK sends keep-alives in streams only. */
const KEEP_ALIVE_MS = 5_000;

/**
 * Returns the response as is if it arrives within `every_ms`. A slower one becomes an event stream with keep-alive
 * comments until the response arrives, as a message or as a stream. Only for clients that accept both.
 */
export async function withKeepAlive(answer: Promise<Response>, every_ms = KEEP_ALIVE_MS): Promise<Response> {
  const early = await withTimeout(answer, every_ms);
  if (early) return early;
  const stream = ReadableStream.from(keepAliveEvents(answer, every_ms)).pipeThrough(new TextEncoderStream());
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' },
  });
}

async function* keepAliveEvents(answer: Promise<Response>, every_ms: number): AsyncGenerator<string> {
  let response: Response | undefined;
  do {
    yield ': keepalive\n\n';
    response = await withTimeout(answer, every_ms);
  } while (!response);
  if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body) {
    yield* response.body.pipeThrough(new TextDecoderStream());
    return;
  }
  const text = await response.text();
  if (text !== '') yield `event: message\ndata: ${text}\n\n`;
}

/** Returns `undefined` on timeout. */
async function withTimeout(answer: Promise<Response>, ms: number): Promise<Response | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([answer, sleep(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}
