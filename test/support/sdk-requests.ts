import { Client } from '@langchain/langgraph-sdk';

/** One request of the SDK: `POST /threads/{}/runs`, and the names of its query parameters and of the fields of its body. */
export interface SdkRequest {
  readonly method: string;
  readonly segments: readonly string[];
  readonly query: readonly string[];
  readonly body: readonly string[];
}

/** Options that the client reads itself, and that would stop it from sending the rest. */
const OWN_OPTIONS = new Set(['signal', 'onRunCreated', '_langsmithTracer', 'streamIdleReconnect', 'then']);
const SPECIAL: Readonly<Record<string, unknown>> = {
  supersteps: [{ updates: [{ values: {}, command: {}, asNode: 'a' }] }],
};

/** Options that have every property: a request shows which ones its method reads. */
const EVERY_OPTION: object = new Proxy(
  {},
  {
    get: (_, name) => {
      if (typeof name === 'symbol' || OWN_OPTIONS.has(name)) return undefined;
      return SPECIAL[name] ?? ['x'];
    },
  },
);

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
const CHECKPOINT = { checkpoint_id: ID };

/** Arguments before the options; several lists for a method that chooses its request by them. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  'threads.create': [[]],
  'threads.search': [[]],
  'threads.count': [[]],
  'threads.prune': [[[ID]]],
  'threads.getState': [
    [ID, undefined],
    [ID, ID],
    [ID, CHECKPOINT],
  ],
  'threads.patchState': [[ID, {}]],
  'runs.stream': [
    [ID, ID],
    [null, ID],
  ],
  'runs.create': [
    [ID, ID],
    [null, ID],
  ],
  'runs.wait': [
    [ID, ID],
    [null, ID],
  ],
  'runs.get': [[ID, ID]],
  'runs.delete': [[ID, ID]],
  'runs.join': [[ID, ID]],
  'runs.joinStream': [
    [ID, ID],
    [null, ID],
  ],
  'runs.cancel': [[ID, ID, true, 'interrupt']],
  'runs.cancelMany': [[]],
  'crons.createForThread': [[ID, ID]],
  'crons.search': [[]],
  'crons.count': [[]],
  'assistants.create': [[]],
  'assistants.search': [[]],
  'assistants.count': [[]],
  'assistants.setLatest': [[ID, 1]],
  'store.putItem': [[['a'], 'k', {}]],
  'store.getItem': [[['a'], 'k']],
  'store.deleteItem': [[['a'], 'k']],
  'store.searchItems': [[['a']]],
  'store.listNamespaces': [[]],
};

/** Several requests in one, or not to the API. */
const OTHERS = new Set(['runs.createBatch', 'threads.stream']);

/** What each method of the client sends, with every option that it reads. */
export async function sdkRequests(): Promise<Map<string, SdkRequest[]>> {
  const sent: SdkRequest[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { pathname, searchParams } = new URL(url);
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as object) : {};
    sent.push({
      method: init.method ?? 'GET',
      segments: pathname.split('/').slice(1),
      query: [...new Set(searchParams.keys())],
      body: Object.keys(body),
    });
    return new Response('{"items":[]}', { headers: { 'content-type': 'text/event-stream' } });
  };
  const client = new Client({ apiUrl: 'http://localhost', callerOptions: { fetch, maxRetries: 0 } });
  const requests = new Map<string, SdkRequest[]>();
  for (const group of ['assistants', 'threads', 'runs', 'crons', 'store'] as const) {
    const methods = client[group] as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(methods))) {
      const method = `${group}.${name}`;
      if (name === 'constructor' || OTHERS.has(method)) continue;
      for (const args of ARGUMENTS[method] ?? [[ID]]) await finished(methods[name]?.(...args, EVERY_OPTION));
      requests.set(method, sent.splice(0));
    }
  }
  return requests;
}

async function finished(result: unknown): Promise<void> {
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
    for await (const _ of result as AsyncIterable<unknown>);
  else await result;
}
