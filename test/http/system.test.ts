import { expect, test } from 'vitest';
import { UNRESTRICTED } from '../../src/auth/actor.ts';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';

test('a healthy server reports ok', async () => {
  await using http = await bareServer();
  for (const url of ['/ok', '/']) {
    const answer = await http.inject(url);
    expect([answer.statusCode, answer.json()]).toEqual([200, { ok: true, services: {} }]);
  }
  expect((await http.inject('/ok?check_db=1')).json()).toEqual({ ok: true, services: { database: 'ok' } });
  expect((await http.inject('/ok?check_db=x')).statusCode).toBe(422);
  expect((await http.inject({ method: 'HEAD', url: '/ok' })).statusCode).toBe(200);
});

test('a health check with check_db reports an unresponsive database', async () => {
  await using http = await bareServer({ engine: { ping: () => Promise.reject(new Error('refused')) } });
  expect((await http.inject('/ok')).statusCode).toBe(200);
  const answer = await http.inject('/ok?check_db=1');
  expect([answer.statusCode, answer.json()]).toEqual([503, { detail: naming('database') }]);
});

test('a health check with check_db fails until the graphs are loaded, and the others do not', async () => {
  await using http = await bareServer({ engine: { isLoaded: () => false } });
  const checks = ['/ok', '/ok?live=1', '/ok?check_db=1'];
  const answers = await Promise.all(checks.map((url) => http.inject(url)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 503]);
});

test('the readiness check of a stopping server fails', async () => {
  await using http = await bareServer({ engine: { isDraining: () => true } });
  expect((await http.inject('/ok')).statusCode).toBe(503);
});

test('the liveness check of a stopping server succeeds, and that of a stuck one fails', async () => {
  await using draining = await bareServer({ engine: { isDraining: () => true } });
  expect((await draining.inject('/ok')).statusCode).toBe(503);
  expect((await draining.inject('/ok?live=1')).json()).toEqual({ ok: true, services: {} });

  await using stuck = await bareServer({ engine: { stuck: () => 'Its heartbeat has stalled.' } });
  expect((await stuck.inject('/ok')).statusCode).toBe(200);
  const answer = await stuck.inject('/ok?live=1');
  expect([answer.statusCode, answer.json()]).toEqual([503, { detail: 'Its heartbeat has stalled.' }]);
});

test('/info has the flags that clients check before they offer a feature', async () => {
  await using http = await bareServer();
  expect((await http.inject('/info')).json()).toMatchObject({
    version: '0.16.7',
    langgraph_js_version: '1.4.18',
    context: 'js',
    flags: { assistants: true, crons: true, langsmith: false },
    host: { kind: 'self-hosted' },
    server: { name: 'agent-server', version: '1.2.3' },
  });
});

test('metrics are exported for Prometheus', async () => {
  await using http = await bareServer();
  await http.inject('/ok');
  await http.inject('/threads/x');
  await http.inject('/nope/1');
  const answer = await http.inject('/metrics');
  expect(answer.headers['content-type']).toBe('text/plain; version=1.0.0; charset=utf-8');
  const lines = answer.body.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'lg_api_http_requests_total{method="GET",path="/ok",status="200"} 1',
      'lg_api_http_requests_total{method="GET",path="/threads/{thread_id}",status="422"} 1',
      'lg_api_http_requests_total{method="GET",path="unknown",status="404"} 1',
      'lg_api_http_requests_latency_bucket{le="+Inf",method="GET",path="/ok",status="200"} 1',
      'lg_api_workers_max 10',
      'lg_api_workers_active 1',
      'lg_api_workers_available 9',
      'lg_api_num_pending_runs 2',
      'lg_api_num_running_runs 1',
      'agent_server_crons 4',
      'agent_server_crons_overdue 1',
      'agent_server_webhooks_pending 3',
      'agent_server_webhooks_dead 1',
      'agent_server_webhook_tries_total{outcome="delivered"} 5',
      'agent_server_webhook_tries_total{outcome="failed"} 2',
    ]),
  );
});

test('metrics are exported as JSON', async () => {
  await using http = await bareServer();
  await http.inject('/ok');
  await http.inject('/ok');
  expect((await http.inject('/metrics?format=json')).json()).toEqual({
    queue: {
      n_pending: 2,
      n_running: 1,
      pending_runs_wait_time_max_secs: 3,
      pending_runs_wait_time_med_secs: 2,
      pending_unblocked_runs_wait_time_max_secs: null,
    },
    api: { http_requests_total: [{ method: 'GET', path: '/ok', status: 200, count: 2 }] },
    workers: { max: 10, active: 1, available: 9 },
  });
});

test('every request is logged in one line, without keys and queries', async () => {
  await using http = await bareServer({ authenticate: async () => UNRESTRICTED });
  const headers = { 'x-api-key': 'secret-key', authorization: 'Bearer secret-token' };
  await http.inject({ url: '/info?token=secret-query', headers });
  await http.inject('/ok');
  expect(http.log).toMatchObject([
    {
      level: 'info',
      message: 'GET /info 200',
      fields: { request_id: expect.any(String), ms: expect.any(Number) },
    },
    { level: 'debug', message: 'GET /ok 200' },
  ]);
  expect(JSON.stringify(http.log)).not.toContain('secret');
});

test('with a mount prefix every route is below it, and health also at the root', async () => {
  await using http = await bareServer({ options: { mount_prefix: '/agents/v1' } });
  const statusOf = async (url: string) => (await http.inject(url)).statusCode;
  for (const path of [
    '/ok',
    '/agents/v1/ok',
    '/agents/v1/info',
    '/agents/v1/docs',
    '/agents/v1/openapi.json',
  ]) {
    expect([path, await statusOf(path)]).toEqual([path, 200]);
  }
  expect(await statusOf('/info')).toBe(404);
  const document = (await http.inject('/agents/v1/openapi.json')).json();
  expect(document.servers).toEqual([{ url: '/agents/v1' }]);
  const paths = Object.keys(document.paths);
  expect(paths).toContain('/threads/{thread_id}');
  expect(paths.filter((path) => !path.startsWith('/') || path.includes('agents'))).toEqual([]);
  expect((await http.inject('/agents/v1/docs')).body).toContain(
    'src="/agents/v1/docs/static/swagger-ui-bundle.js"',
  );
});

test('groups of routes can be disabled, but health cannot', async () => {
  const options = { disable_assistants: true, disable_threads: true, disable_runs: true, disable_meta: true };
  await using http = await bareServer({ options });
  const statusOf = async (url: string) => (await http.inject(url)).statusCode;
  for (const path of [
    '/assistants/echo',
    '/threads/x',
    '/threads/x/runs',
    '/info',
    '/docs',
    '/openapi.json',
    '/',
  ]) {
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  }
  expect(await statusOf('/ok')).toBe(200);
});
