import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: ['echo', 'fails', 'sleeper'] });
});

afterAll(() => server[Symbol.asyncDispose]());

const lines = (text: string) =>
  server.log.filter(({ message }) => message === text).map(({ fields }) => fields);

test('the log line of an ended run has its graph, duration and time in the queue', async () => {
  await server.post('/runs/wait', { assistant_id: 'echo', input: { messages: [] } });

  expect(lines('run ended')).toEqual([
    {
      run_id: expect.any(String),
      thread_id: expect.any(String),
      assistant_id: expect.any(String),
      graph: 'echo',
      attempt: 1,
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 'success',
      node: undefined,
      ms: expect.any(Number),
      queue_ms: expect.any(Number),
    },
  ]);
});

test('the log line of a failed run names the node', async () => {
  await server.post('/runs/wait', { assistant_id: 'fails', input: {} });

  expect(lines('run failed')).toMatchObject([{ graph: 'fails', node: expect.stringMatching(/^\w+$/) }]);
});

test('metrics count ended runs by graph and status, and show the lag of the event loop', async () => {
  const text = await metrics();

  expect(text).toMatch(/^agent_server_runs_ended_total\{graph="echo",status="success"\} \d+$/m);
  expect(text).toMatch(/^agent_server_runs_ended_total\{graph="fails",status="error"\} 1$/m);
  expect(text).toMatch(/^agent_server_run_duration_seconds_count\{graph="fails"\} 1$/m);
  expect(text).toMatch(/^agent_server_run_queue_seconds_count \d+$/m);
  for (const name of ['p50', 'p99', 'max'])
    expect(text).toMatch(new RegExp(`^nodejs_eventloop_lag_${name}_seconds [\\d.e-]+$`, 'm'));
  expect(text).toMatch(/^process_resident_memory_bytes \d{8,}$/m);
});

test('a client that disconnects from its stream is logged and counted', async () => {
  const { url } = await server.app.listen();
  const body = JSON.stringify({ assistant_id: 'sleeper', input: { ms: 60_000 }, on_disconnect: 'cancel' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const sent = request(`${url}/runs/stream?key=secret`, { method: 'POST', headers }).on('error', () => {});
  sent.end(body);
  const [response] = await once(sent, 'response');
  sent.destroy();
  await until('the leaving is logged', () => lines('POST /runs/stream client disconnected').length > 0);

  expect(lines('POST /runs/stream client disconnected')).toEqual([
    { request_id: expect.any(String), ms: expect.any(Number), run: response.headers['content-location'] },
  ]);
  expect(await metrics()).toMatch(
    /^agent_server_http_clients_left_total\{method="POST",path="\/runs\/stream"\} 1$/m,
  );
});

async function metrics(): Promise<string> {
  const answer = await server.app.server.inject('/metrics');
  return answer.body;
}
