import { expect } from 'vitest';
import { sseEvents } from './sse.ts';

/** The stream of changes of the server at `url`, read until something of it is there. */
export async function watchChanges(url: string, headers: Record<string, string> = {}) {
  const end = new AbortController();
  const response = await fetch(`${url}/system/changes`, { headers, signal: end.signal });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  const events = sseEvents(text as unknown as AsyncIterable<string>);
  const ready = await events.next();
  expect(ready.value).toMatchObject({ event: 'ready', data: '{}' });
  const seen = new Map<string, Set<string>>();
  return {
    seen,
    /** Resolves when a change of this row was sent. */
    async until(kind: string, id: string): Promise<void> {
      while (!seen.get(kind)?.has(id)) {
        const { value, done } = await events.next();
        if (done) throw new Error(`the stream ended before ${kind} ${id}`);
        const changes = JSON.parse((value as { data: string }).data) as Record<string, { ids: string[] }>;
        for (const [of, { ids }] of Object.entries(changes))
          seen.set(of, new Set([...(seen.get(of) ?? []), ...ids]));
      }
    },
    /** Resolves when the server ends the stream. */
    async ended(): Promise<void> {
      while (!(await events.next().catch(() => ({ done: true }))).done);
    },
    [Symbol.dispose]: () => end.abort(),
  };
}
