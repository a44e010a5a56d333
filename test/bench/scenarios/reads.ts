import type { HttpClient } from '../../support/http-client.ts';
import { benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

/** A conversation of about 30 kB. */
const TURNS = 28;
const QUESTION = 'What does the fox do? '.repeat(12);
const CONCURRENCY = 8;
const WARM_UP = 100;

/** `GET /threads/{thread_id}/state`: what reading a conversation costs. */
export const state: Scenario = {
  title: 'GET state, a conversation of 30 kB',
  run: () => reads((thread_id) => `/threads/${thread_id}/state`, 2000),
};

/** `GET /threads/{thread_id}/history`: ten states that share most of their messages. */
export const history: Scenario = {
  title: 'GET history, ten states of a conversation',
  run: () => reads((thread_id) => `/threads/${thread_id}/history?limit=10`, 600),
};

async function reads(pathOf: (thread_id: string) => string, count: number): Promise<Measurement[]> {
  await using server = await benchServer();
  const path = pathOf(await converse(server.http));
  const request = () => server.http.call('GET', path);
  await measureLoad({ concurrency: CONCURRENCY, count: WARM_UP, request });
  const cpu = server.cpu();
  const { latencies_ms, wall_ms } = await measureLoad({ concurrency: CONCURRENCY, count, request });
  return [
    { what: 'size of the response', value: JSON.stringify(await request()).length / 1e6, unit: 'MB' },
    ...percentiles(`${CONCURRENCY} at once:`, latencies_ms),
    { what: 'rate', value: (count / wall_ms) * 1000, unit: 'requests/s' },
    { what: 'server CPU a request', value: ((server.cpu() - cpu) / count) * 1000, unit: 'ms' },
  ];
}

/** A conversation of about 30 kB; returns its thread. */
export async function converse(http: HttpClient): Promise<string> {
  const { thread_id } = await http.call<{ thread_id: string }>('POST', '/threads', {});
  for (let turn = 1; turn <= TURNS; turn++) {
    const input = { messages: [{ role: 'user', content: `${turn}: ${QUESTION}` }] };
    await http.call('POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'conversation', input });
  }
  return thread_id;
}
