import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type Received, receiver, SECRET, TO_RECEIVER } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const http = await openApp({
  graphs: ['echo', 'sleeper', 'fails', 'interrupting'],
  environment: TO_RECEIVER,
});
const hook = await receiver();
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

/** What is told of a run, to the address that is its own. */
async function told(path: string): Promise<Received> {
  const find = () => hook.received.find((one) => one.path.startsWith(`${path}?`));
  await until(`${path} was told`, () => find() !== undefined);
  return find() as Received;
}

let count = 0;
/** An address that nobody else uses, with a token as receivers without signatures know it. */
function address() {
  const path = `/hook/${++count}`;
  return { path, webhook: `${hook.url}${path}?token=s3cret` };
}

const ECHO = { assistant_id: 'echo', input: { x: 1 } };

/** Routes that create a run, and whether they take a list. */
const NEW_RUNS: [string, boolean][] = [
  ['/threads/{t}/runs', false],
  ['/threads/{t}/runs/wait', false],
  ['/threads/{t}/runs/stream', false],
  ['/runs', false],
  ['/runs/wait', false],
  ['/runs/stream', false],
  ['/runs/batch', true],
];

test.each(NEW_RUNS)(
  'POST %s calls its webhook once at the end of the run, signed',
  async (route, isBatch) => {
    const { path, webhook } = address();
    const run = { ...ECHO, webhook };
    const { status } = await http.post(route.replace('{t}', await http.thread()), isBatch ? [run] : run);
    expect(status).toBe(200);

    const { headers, text, body, path: asked } = await told(path);

    expect(asked).toBe(`${path}?token=s3cret`);
    expect(new Webhook(SECRET).verify(text, headers)).toEqual(body);
    expect(body).toMatchObject({ status: 'success', kwargs: { input: { x: 1 }, webhook } });
    const { body: deliveries } = await http.get(`/webhooks/deliveries?run_id=${body['run_id']}`);
    expect(deliveries).toMatchObject([{ kind: 'run', delivery_id: headers['webhook-id'] }]);
    expect(hook.received.filter((one) => one.path.startsWith(path))).toHaveLength(1);
  },
);

test('the webhook payload is the run as a client sees it, with its outcome', async () => {
  const { path, webhook } = address();
  const thread_id = await http.thread();
  await http.post(`/threads/${thread_id}/runs/wait`, { ...ECHO, webhook, metadata: { m: 1 } });
  const { body } = await told(path);
  const { body: run } = await http.get(`/threads/${thread_id}/runs/${body['run_id']}`);
  const { body: thread } = await http.get(`/threads/${thread_id}`);

  const { run_started_at, run_ended_at, webhook_sent_at, values, ...rest } = body;
  expect(rest).toEqual(run);
  expect(values).toEqual(thread.values);
  for (const at of [run_started_at, run_ended_at, webhook_sent_at])
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('the webhook of a stateless run has no values', async () => {
  const { path, webhook } = address();
  await http.post('/runs/wait', { ...ECHO, webhook });
  expect((await told(path)).body).toMatchObject({ status: 'success', values: null });
});

test('the webhook of a failed run has its error', async () => {
  const { path, webhook } = address();
  await http.post(`/threads/${await http.thread()}/runs`, { assistant_id: 'fails', input: {}, webhook });
  const { body } = await told(path);
  expect(body).toMatchObject({
    status: 'error',
    error: { error: expect.any(String), message: expect.any(String) },
  });
});

test('the webhook of an interrupted run has status success', async () => {
  const { path, webhook } = address();
  const thread_id = await http.thread();
  await http.post(`/threads/${thread_id}/runs`, { assistant_id: 'interrupting', input: { x: 1 }, webhook });
  const { body } = await told(path);
  expect(body).toMatchObject({ status: 'success' });
  expect(body).not.toHaveProperty('error');
});

test.each([
  ['interrupt', 'interrupted', 'UserInterrupt'],
  ['rollback', 'rollback', 'UserRollback'],
])('the webhook of a run that is cancelled with %s has status %s', async (action, status, error) => {
  const { path, webhook } = address();
  const thread_id = await http.thread();
  const sleep = { assistant_id: 'sleeper', input: { ms: 60_000 }, webhook };
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, sleep);
  const isRunning = async () =>
    (await http.get(`/threads/${thread_id}/runs/${run.run_id}`)).body.status === 'running';
  await until('it was running', isRunning);
  await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?wait=1&action=${action}`);
  const { body } = await told(path);
  expect(body).toMatchObject({
    run_id: run.run_id,
    status,
    error: { error, message: expect.stringContaining(action) },
  });
});

test('the webhook of a superseded run names the run that replaced it', async () => {
  const { path, webhook } = address();
  const thread_id = await http.thread();
  const sleep = { assistant_id: 'sleeper', input: { ms: 60_000 } };
  const first = await http.post(`/threads/${thread_id}/runs`, { ...sleep, webhook });
  const isRunning = async () =>
    (await http.get(`/threads/${thread_id}/runs/${first.body.run_id}`)).body.status === 'running';
  await until('it was running', isRunning);
  const next = await http.post(`/threads/${thread_id}/runs`, { ...ECHO, multitask_strategy: 'interrupt' });
  expect((await told(path)).body).toMatchObject({
    status: 'interrupted',
    error: {
      error: 'UserInterrupt',
      message: expect.stringContaining(`superseded by run ${next.body.run_id}`),
    },
  });
});

test('time limits of a webhook delivery may have a fraction of a millisecond', async () => {
  const { LANGGRAPH_WEBHOOKS } = TO_RECEIVER;
  const delivery = { timeout_seconds: 20.0005 };
  const environment = { LANGGRAPH_WEBHOOKS: JSON.stringify({ ...JSON.parse(LANGGRAPH_WEBHOOKS), delivery }) };
  await using exact = await openApp({ graphs: ['echo'], environment });
  const { path, webhook } = address();
  await exact.post('/runs', { ...ECHO, webhook });
  expect((await told(path)).body).toMatchObject({ status: 'success' });
});

test('the webhook of a run that timed out has status timeout', async () => {
  await using impatient = await openApp({
    graphs: ['sleeper'],
    environment: { ...TO_RECEIVER, BG_JOB_TIMEOUT_SECS: '1' },
  });
  const { path, webhook } = address();
  await impatient.post('/runs', { assistant_id: 'sleeper', input: { ms: 60_000 }, webhook });
  expect((await told(path)).body).toMatchObject({ status: 'timeout', error: { error: 'TimeoutError' } });
});

test('a run that never started calls no webhook', async () => {
  const { webhook } = address();
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    ...ECHO,
    webhook,
    after_seconds: 600,
  });
  await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel`);
  expect((await http.get(`/webhooks/deliveries?run_id=${run.run_id}`)).body).toEqual([]);
});

test.each(NEW_RUNS)('POST %s refuses a forbidden webhook URL', async (route, isBatch) => {
  const run = { ...ECHO, webhook: 'http://169.254.169.254/latest' };
  const thread_id = await http.thread();
  const answer = await http.post(route.replace('{t}', thread_id), isBatch ? [ECHO, run] : run);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatch(/^Webhook (must use https|host blocked)/);
  expect((await http.get(`/threads/${thread_id}/runs`)).body).toEqual([]);
});

test('a webhook URL must be text of bounded length', async () => {
  for (const webhook of ['', 7, 'x'.repeat(65_537)]) {
    expect(await http.post('/runs', { ...ECHO, webhook })).toMatchObject({ status: 422 });
  }
});

test('by default webhooks to this machine are refused, with the setting that allows them', async () => {
  await using closed = await openApp({ graphs: ['echo'] });
  const { status, body } = await closed.post('/runs', { ...ECHO, webhook: hook.url });
  expect(status).toBe(422);
  expect(body.detail).toMatch(/loopback IP range \(127\.0\.0\.1\).* webhooks\.url\.disable_loopback: false/);
});

test('with webhooks disabled, runs execute, URLs are checked, and nothing is sent', async () => {
  await using off = await openApp({
    graphs: ['echo'],
    environment: { ...TO_RECEIVER, LANGGRAPH_HTTP: '{"disable_webhooks": true}' },
  });
  const { path, webhook } = address();
  expect(await off.post('/runs/wait', { ...ECHO, webhook })).toMatchObject({ status: 200 });
  expect(await off.post('/runs', { ...ECHO, webhook: 'http://10.0.0.1/' })).toMatchObject({ status: 422 });
  expect((await off.get('/webhooks/deliveries')).body).toEqual([]);
  expect(await off.post('/webhooks/test', { url: webhook })).toMatchObject({ status: 409 });
  expect(hook.received.filter((one) => one.path.startsWith(path))).toEqual([]);
});
