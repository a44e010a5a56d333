import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { declaredRoutes } from '../support/declared-routes.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo', 'fails', 'interrupting'] });
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = { assistant_id: 'echo', input: { x: 1 } };

/** The operations that create something, by their ids. */
const IDEMPOTENT = [
  'copy_thread',
  'create_assistant',
  'create_cron',
  'create_run',
  'create_stateless_run',
  'create_stateless_runs',
  'create_thread',
  'create_thread_cron',
  'protocol_thread_command_post',
  'stream_run',
  'stream_stateless_run',
  'trigger_cron',
  'update_thread_state',
  'wait_run',
  'wait_stateless_run',
];

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
}

function key(): { 'idempotency-key': string } {
  return { 'idempotency-key': crypto.randomUUID() };
}

test('a repeated request with the same Idempotency-Key creates one run', async () => {
  const at = `/threads/${await http.thread()}/runs`;
  const once = key();
  const first = await http.post(at, ECHO, once);
  const again = await http.post(at, ECHO, once);
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(again.headers['content-location']).toBe(first.headers['content-location']);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect((await http.get(at)).body).toHaveLength(1);
});

test('repeated waits and streams with one Idempotency-Key share one run', async () => {
  const at = `/threads/${await http.thread()}/runs`;
  for (const kind of ['wait', 'stream']) {
    const once = key();
    const first = await http.post(`${at}/${kind}`, ECHO, once);
    const again = await http.post(`${at}/${kind}`, ECHO, once);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }
  expect((await http.get(at)).body).toHaveLength(2);
});

test('a repeated stateless run gets the stored response, even after the run is deleted', async () => {
  for (const path of ['/runs', '/runs/wait', '/runs/batch']) {
    const body = path === '/runs/batch' ? [ECHO, ECHO] : ECHO;
    const once = key();
    const first = await http.post(path, body, once);
    const again = await http.post(path, body, once);
    // Newlines precede the answer of a run that takes its time.
    expect([again.status, again.text]).toEqual([200, first.text.trim()]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }
});

test('a repeated batch of runs gets the stored response, however long it is', async () => {
  const once = key();
  const batch = Array.from({ length: 100 }, () => ({ ...ECHO, input: { x: 'long'.repeat(200) } }));
  const first = await http.post('/runs/batch', batch, once);
  const again = await http.post('/runs/batch', batch, once);
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
  expect(again.text).toBe(first.text);
});

test('repeated requests with one Idempotency-Key create threads, copies, states and assistants once', async () => {
  const thread_id = await http.thread({ metadata: { graph_id: 'echo' } });
  const requests: [string, unknown][] = [
    ['/threads', { metadata: { a: 1 } }],
    [`/threads/${thread_id}/state`, { values: { x: 1 }, as_node: 'a' }],
    [`/threads/${thread_id}/copy`, undefined],
    ['/assistants', { graph_id: 'echo', name: 'mine' }],
  ];
  for (const [path, body] of requests) {
    const once = key();
    const first = await http.post(path, body, once);
    const again = await http.post(path, body, once);
    expect([path, first.status, again.status, again.text]).toEqual([path, 200, 200, first.text]);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }
});

test('an Idempotency-Key of another request is refused', async () => {
  const once = key();
  await http.post('/threads', { metadata: { a: 1 } }, once);
  for (const [path, body] of [
    ['/threads', { metadata: { a: 2 } }],
    ['/runs', ECHO],
  ] as const) {
    expect(await http.post(path, body, once)).toMatchObject({
      status: 409,
      body: { detail: naming('Idempotency-Key') },
    });
  }
  expect((await http.post('/threads', {}, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(422);
});

test('a failed request may be repeated with its Idempotency-Key', async () => {
  const once = key();
  const thread_id = crypto.randomUUID();
  const at = `/threads/${thread_id}/runs/wait`;
  expect((await http.post(at, ECHO, once)).status).toBe(404);
  await http.post('/threads', { thread_id });
  const made = await http.post(at, ECHO, once);
  expect([made.status, made.headers['idempotency-replayed']]).toEqual([200, undefined]);
  expect((await http.post(at, ECHO, once)).text).toBe(made.text.trim());
});

test('a repeated command with an Idempotency-Key creates one run and gives one answer', async () => {
  const thread_id = crypto.randomUUID();
  const send = (method: string, params: object, once: Record<string, string>) =>
    http.post(`/threads/${thread_id}/commands`, { id: 1, method, params }, once);
  const start = [{ assistant_id: 'interrupting', input: { x: 1 } }, key()] as const;
  const first = await send('run.start', ...start);
  const again = await send('run.start', ...start);
  expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);

  await http.get(`/threads/${thread_id}/runs/${first.body.result.run_id}/join`);
  const unknown = [{ interrupt_id: 'nope', response: 1 }, key()] as const;
  expect((await send('input.respond', ...unknown)).body).toMatchObject({ error: 'no_such_interrupt' });
  const refused = await send('input.respond', ...unknown);
  expect(refused.headers['idempotency-replayed']).toBeUndefined();

  const { interrupts } = (await http.get(`/threads/${thread_id}`)).body;
  const [{ id }] = Object.values(interrupts).flat() as [{ id: string }];
  const respond = [{ interrupt_id: id, response: 'yes' }, key()] as const;
  for (let times = 0; times < 2; times++) {
    expect((await send('input.respond', ...respond)).body).toMatchObject({ type: 'success' });
  }
  expect((await http.get(`/threads/${thread_id}/runs`)).body).toHaveLength(2);
});

test('of concurrent requests with one Idempotency-Key, one creates the run', async () => {
  const at = `/threads/${await http.thread()}/runs`;
  const once = key();
  const answers = await Promise.all(Array.from({ length: 10 }, () => http.post(at, ECHO, once)));
  for (const { status } of answers) expect([200, 409]).toContain(status);
  expect((await http.get(at)).body).toHaveLength(1);
});

test('read-only requests ignore an Idempotency-Key', async () => {
  const once = key();
  for (const body of [{}, { limit: 1 }]) {
    const found = await http.post('/threads/search', body, once);
    expect([found.status, found.headers['idempotency-replayed']]).toEqual([200, undefined]);
  }
});

test('only routes that support Idempotency-Key describe the header', async () => {
  const routes = await declaredRoutes(() =>
    openApp({ graphs: ['echo'], one_process: 'its routes are read' }),
  );
  const idempotent = routes
    .filter(({ config }) => config?.idempotent)
    .map(({ schema }) => schema?.operationId);
  const { paths } = (await http.get('/openapi.json')).body as {
    paths: Record<string, Record<string, Described>>;
  };
  const described = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'Idempotency-Key'))
    .map(({ operationId }) => operationId);
  expect(idempotent.toSorted()).toEqual(IDEMPOTENT);
  expect(described.toSorted()).toEqual(IDEMPOTENT);
});
