import type { HttpClient } from './http-client.ts';

/** An event of a task, as JSON-RPC of 1.0 has it. */
export interface TaskEvent {
  readonly id: string | undefined;
  readonly data: string;
  /** `task`, `statusUpdate` or `artifactUpdate`. */
  readonly kind: string;
  readonly value: {
    readonly id: string;
    readonly status: { readonly state: string };
    readonly artifact: { readonly artifactId: string; readonly parts: readonly { text?: string }[] };
    readonly append?: boolean;
    readonly lastChunk?: boolean;
  };
}

/** Opens a stream of an agent. `last_id` continues one. */
export async function taskEvents(
  http: HttpClient,
  graph: string,
  { method, params, last_id }: { method: string; params: object; last_id?: string | undefined },
): Promise<AsyncGenerator<TaskEvent>> {
  const headers = last_id === undefined ? {} : { 'last-event-id': last_id };
  const body = { jsonrpc: '2.0', id: 7, method, params };
  const { events } = await http.stream('POST', `/a2a/${graph}`, { body, headers });
  return (async function* parsed() {
    for await (const { id, data } of events) {
      const [[kind, value]] = Object.entries(JSON.parse(data).result) as [[string, TaskEvent['value']]];
      yield { id, data, kind, value };
    }
  })();
}

/** The next events, as many as `length`. */
export async function nextOf<T>(events: AsyncIterator<T>, length: number): Promise<T[]> {
  const read: T[] = [];
  while (read.length < length) read.push((await events.next()).value as T);
  return read;
}

/** What the pieces of answers make together. */
export function textOf(events: readonly TaskEvent[]): string {
  return events.map(({ value }) => value.artifact?.parts[0]?.text ?? '').join('');
}

let count = 0;

/** A message for the graph `tokens`, which answers with so many. */
export function askingForTokens(tokens: number, token_ms = 0) {
  count += 1;
  const parts = [{ text: 'Go' }, { data: { count: tokens, token_ms } }];
  return { message: { messageId: `tokens-${count}`, role: 'ROLE_USER', parts } };
}

/** What it answers. */
export function tokensOf(length: number): string {
  return Array.from({ length }, (_, i) => `t${i} `).join('');
}
