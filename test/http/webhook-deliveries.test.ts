import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { isOneProcessMissing } from '../support/processes.ts';
import { receiver, SECRET, TO_RECEIVER } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const http = await openApp({ graphs: ['echo'], environment: TO_RECEIVER });
const hook = await receiver();
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

/** The delivery of a run to the receiver, once it has been tried. */
async function delivered(answer = 200) {
  hook.answers.push(answer);
  const webhook = `${hook.url}/hook?token=s3cret`;
  const run = await http.post('/runs', { assistant_id: 'echo', input: { x: 1 }, webhook });
  const find = async () => (await http.get(`/webhooks/deliveries?run_id=${run.body.run_id}`)).body[0];
  await until('it was tried', async () => (await find())?.status === (answer === 200 ? 'delivered' : 'dead'));
  return await find();
}

test('a webhook delivery is returned with its attempts and without its secrets', async () => {
  const { delivery_id, run_id, thread_id } = await delivered();

  const { status, text, body } = await http.get(`/webhooks/deliveries/${delivery_id}`);

  expect(status).toBe(200);
  expect(body).toEqual({
    delivery_id,
    kind: 'run',
    run_id,
    thread_id,
    url: `${hook.url}/hook?token=***`,
    status: 'delivered',
    tries: 1,
    next_try_at: null,
    created_at: expect.any(String),
    ended_at: expect.any(String),
    request: {
      header_names: ['traceparent'],
      body: expect.stringContaining(`"webhook":"${hook.url}/hook?token=***"`),
      body_length: expect.any(Number),
    },
    attempts: [
      {
        attempt: 1,
        started_at: expect.any(String),
        duration_ms: expect.any(Number),
        status_code: 200,
        error: null,
        answer: null,
        answer_headers: expect.objectContaining({ connection: 'keep-alive' }),
      },
    ],
  });
  expect(text).not.toContain('s3cret');
  expect(JSON.stringify(http.log)).not.toContain('s3cret');
});

test('webhook deliveries are listed by status and URL, in pages, newest first', async () => {
  const dead = await delivered(410);
  const last = await delivered();

  const page = await http.get('/webhooks/deliveries?limit=1');
  expect(page.body).toMatchObject([{ delivery_id: last.delivery_id }]);
  expect(page.headers).toMatchObject({ 'x-pagination-next': '1', 'x-pagination-total': '2' });
  const next = await http.get('/webhooks/deliveries?limit=1&offset=1');
  expect(next.body).toMatchObject([{ delivery_id: dead.delivery_id }]);

  expect((await http.get('/webhooks/deliveries?status=dead')).body).toMatchObject([dead]);
  expect((await http.get(`/webhooks/deliveries?url=${hook.url}&status=dead`)).body).toHaveLength(1);
  expect((await http.get('/webhooks/deliveries?url=https://elsewhere')).body).toEqual([]);
  for (const query of ['status=lost', 'limit=0', 'limit=x', 'run_id=7', 'offset=-1']) {
    expect(await http.get(`/webhooks/deliveries?${query}`)).toMatchObject({ status: 422 });
  }
});

test('a dead webhook delivery can be redelivered under its id', async () => {
  const dead = await delivered(410);
  const before = hook.received.length;

  const { status, body } = await http.post(`/webhooks/deliveries/${dead.delivery_id}/redeliver`);

  expect(status).toBe(200);
  expect(body).toMatchObject({ delivery_id: dead.delivery_id, ended_at: null });
  await hook.came(before + 1);
  expect(hook.received.at(-1)?.headers['webhook-id']).toBe(dead.delivery_id);
  const find = async () => (await http.get(`/webhooks/deliveries/${dead.delivery_id}`)).body;
  await until('it was delivered', async () => (await find()).status === 'delivered');
  expect((await find()).attempts).toMatchObject([{ status_code: 410 }, { attempt: 2, status_code: 200 }]);
});

test('a missing webhook delivery is 404', async () => {
  const unknown = '/webhooks/deliveries/7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
  expect(await http.get(unknown)).toMatchObject({ status: 404 });
  expect(await http.post(`${unknown}/redeliver`)).toMatchObject({ status: 404 });
  expect(await http.get('/webhooks/deliveries/x')).toMatchObject({
    status: 422,
    body: { detail: 'Invalid delivery ID: must be a UUID' },
  });
});

test('a test of a webhook receiver sends a signed sample once', async () => {
  const { status, body } = await http.post('/webhooks/test', { url: `${hook.url}/try` });
  expect(status).toBe(200);
  expect(body).toMatchObject({ kind: 'test', status: 'delivered', attempts: [{ status_code: 200 }] });
  const { headers, text } = hook.received.find(({ path }) => path === '/try') as never;
  expect(new Webhook(SECRET).verify(text, headers)).toMatchObject({
    status: 'success',
    metadata: { test: true },
  });
});

test('a failed test of a webhook receiver returns its response', async () => {
  hook.answers.push((_request, response) => response.writeHead(500).end('no such table'));
  const { status, body } = await http.post('/webhooks/test', { url: hook.url });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'dead',
    attempts: [{ status_code: 500, error: 'answered 500', answer: 'no such table' }],
  });
});

test('a test of a forbidden webhook URL is refused', async () => {
  expect(await http.post('/webhooks/test', { url: 'https://10.0.0.1/' })).toMatchObject({
    status: 422,
    body: { detail: naming('private IP range') },
  });
  expect(await http.post('/webhooks/test', {})).toMatchObject({ status: 422 });
});

const isElsewhere = isOneProcessMissing('the process that delivers has the metrics');
test.skipIf(isElsewhere)('metrics count pending and dead webhook deliveries and their attempts', async () => {
  const { text } = await http.get('/metrics');
  expect(text).toMatch(/^agent_server_webhooks_pending 0$/m);
  expect(text).toMatch(/^agent_server_webhooks_dead [1-9]/m);
  expect(text).toMatch(/^agent_server_webhook_tries_total\{outcome="delivered"\} [1-9]/m);
});

test('log lines about a delivery name the assistant and the trace of its run, even of a deleted one', async () => {
  const trace_id = 'ab'.repeat(16);
  const caller = { traceparent: `00-${trace_id}-${'cd'.repeat(8)}-01` };
  const [{ assistant_id }] = (await http.post('/assistants/search', { graph_id: 'echo' })).body;
  for (const path of [`/threads/${await http.thread()}/runs`, '/runs']) {
    hook.answers.push(410);
    const input = { x: 1 };
    const run = await http.post(path, { assistant_id: 'echo', input, webhook: hook.url }, caller);
    const { run_id, thread_id } = run.body;
    const line = () =>
      http.log.find(({ message, fields }) => message.startsWith('webhook') && fields?.['run_id'] === run_id);
    await until('the failure is logged', () => line() !== undefined);
    expect(line()).toMatchObject({
      message: naming('giving up'),
      fields: { run_id, thread_id, assistant_id, trace_id },
    });
  }
});
