import type { HttpClient } from './http-client.ts';

export interface Told {
  readonly event_id: string;
  readonly seq: number;
  readonly method: string;
  readonly params: {
    readonly namespace: string[];
    readonly timestamp: number;
    // biome-ignore lint/suspicious/noExplicitAny: a test reads fields of any event
    readonly data: any;
  };
}

const CHANNELS = ['values', 'messages', 'tools', 'lifecycle', 'input'];

/** What a client of the thread is sent, to the end of the run that it sees first. */
export async function toldOf(http: HttpClient, thread_id: string, since = 0): Promise<Told[]> {
  const body = { channels: CHANNELS, since };
  const { events } = await http.stream('POST', `/threads/${thread_id}/stream/events`, { body });
  const all: Told[] = [];
  for await (const { data } of events) {
    const event = JSON.parse(data) as Told;
    all.push(event);
    const { namespace } = event.params;
    if (event.method === 'lifecycle' && namespace.length === 0 && event.params.data.event !== 'running')
      break;
  }
  return all;
}

/** Task ids differ from run to run; those of calls do not. */
const place = (namespace: string[]) =>
  namespace.map((segment) => (segment.includes(':call-') ? segment : segment.split(':')[0])).join('/');

/** What clients make of the events; each message once, with all of its text. */
export function essence(events: readonly Told[], { states = true } = {}) {
  const seen: unknown[] = [];
  const texts = new Map<string, string[]>();
  for (const { method, params } of events) {
    const { data } = params;
    const at = place(params.namespace);
    if (method === 'messages') {
      if (data.event === 'message-start') {
        const id = String(data.id).replace(/^run-.*/, 'run');
        const text: string[] = [];
        texts.set(at, text);
        seen.push(['message', at, data.role, id, text]);
      } else if (data.event === 'content-block-delta') texts.get(at)?.push(data.delta.text);
    } else if (method === 'tools') {
      const { event, tool_call_id, tool_name, input, output } = data;
      seen.push([event, at, tool_call_id, tool_name, input, output?.content]);
    } else if (method === 'lifecycle') seen.push([data.event, at, data.graph_name]);
    else if (method === 'values' && states && at === '') {
      const { messages, ...rest } = data;
      seen.push(['values', rest, messages?.length]);
    } else if (method === 'input.requested') seen.push([method, at, data.payload]);
  }
  return seen.map((item) =>
    Array.isArray(item) && item[0] === 'message'
      ? [...item.slice(0, 4), (item[4] as string[]).join('')]
      : item,
  );
}
