import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

let http: Awaited<ReturnType<typeof openApp>>;
let url: string;
beforeAll(async () => {
  http = await openApp({ graphs: ['sleeper'] });
  url = (await http.app.listen()).url;
});
afterAll(() => http[Symbol.asyncDispose]());

interface Sleeping {
  readonly thread_id: string;
  readonly run_id: string;
}

async function sleepingRun(): Promise<Sleeping> {
  const thread_id = await http.thread();
  const body = { assistant_id: 'sleeper', input: { ms: 60_000 } };
  return (await http.post(`/threads/${thread_id}/runs`, body)).body;
}

/** Opens the address, and goes away once the server is at it. */
async function openAndLeave(path: string): Promise<void> {
  const gone = new AbortController();
  const answer = fetch(url + path, { signal: gone.signal });
  const connected = () => new Promise((found) => http.app.server.server.getConnections((_, n) => found(n)));
  await until('the request has arrived', async () => (await connected()) === 1);
  if (path.includes('/stream')) await answer;
  gone.abort();
  await answer.then(({ body }) => body?.cancel()).catch(() => {});
  await until('the connection is gone', async () => (await connected()) === 0);
}

async function fate({ thread_id }: Sleeping) {
  return (await http.get(`/threads/${thread_id}/runs?select=status&select=cancel_reason`)).body[0];
}

const joins: [string, (run: Sleeping) => string][] = [
  ['join', ({ thread_id, run_id }) => `/threads/${thread_id}/runs/${run_id}/join`],
  ['stream', ({ thread_id, run_id }) => `/threads/${thread_id}/runs/${run_id}/stream`],
  ['stream without the thread', ({ run_id }) => `/runs/${run_id}/stream`],
];

test.for(joins)(
  '%s: a client that disconnects cancels its run only if on_disconnect says so',
  async ([_name, pathOf]) => {
    const left = await sleepingRun();
    await openAndLeave(`${pathOf(left)}?cancel_on_disconnect=0`);
    expect(await fate(left)).toMatchObject({ cancel_reason: null });

    await openAndLeave(`${pathOf(left)}?cancel_on_disconnect=1`);
    await until('the run is cancelled', async () => (await fate(left)).status === 'interrupted');
    expect((await fate(left)).cancel_reason).toContain('client disconnected');
  },
);

test.for(joins)('%s: a read-only client that disconnects cancels no run', async ([_name, pathOf]) => {
  const environment = { AGENT_SERVER_API_KEYS: 'operator' };
  await using server = await openApp({ graphs: ['sleeper'], environment });
  const operator = { 'x-api-key': 'operator' };
  const reader = {
    'x-api-key': (await server.post('/keys', { name: 'r', scope: 'read' }, operator)).body.key,
  };
  const { thread_id } = (await server.post('/threads', {}, operator)).body;
  const body = { assistant_id: 'sleeper', input: { ms: 60_000 } };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, body, operator)).body;
  const path = pathOf({ thread_id, run_id });
  const refused = await server.get(`${path}?cancel_on_disconnect=1`, reader);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('scope \\"run\\"')]);
});
