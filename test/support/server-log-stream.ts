import type { ServerLogLine } from '../../src/schemas/server-log.ts';
import { sseEvents } from './sse.ts';

/** The log of a server as it is followed: what its events hold, from its `ready` on. */
export async function followServerLog(
  url: string,
  {
    query = '',
    last,
    headers = {},
  }: { query?: string; last?: number; headers?: Record<string, string> } = {},
) {
  const end = new AbortController();
  const response = await fetch(`${url}/system/server-logs${query}`, {
    headers: { ...headers, ...(last !== undefined && { 'last-event-id': String(last) }) },
    signal: end.signal,
  });
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  const events = sseEvents(text as unknown as AsyncIterable<string>);
  async function next(): Promise<{ event: string; data: Record<string, unknown> }> {
    const { value, done } = await events.next();
    if (done) throw new Error('the stream has ended');
    return { event: value.event, data: JSON.parse(value.data) };
  }
  const { data: ready } = await next();
  return {
    ready,
    next,
    /** Lines up to the one with this message. */
    async until(message: string): Promise<ServerLogLine[]> {
      const lines: ServerLogLine[] = [];
      while (lines.at(-1)?.message !== message) {
        const { event, data } = await next();
        if (event === 'log') lines.push(data as unknown as ServerLogLine);
      }
      return lines;
    },
    [Symbol.dispose]: () => end.abort(),
  };
}
