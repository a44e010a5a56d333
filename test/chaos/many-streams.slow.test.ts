import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { startChaosServer } from './server.ts';

const STREAMS = 64;
const TOKENS = 200;

test('64 runs that start together deliver all their tokens, in order', async () => {
  await using server = await startChaosServer({ N_JOBS_PER_WORKER: String(STREAMS) });

  const texts = await Promise.all(Array.from({ length: STREAMS }, () => spoken(server.http)));

  const expected = Array.from({ length: TOKENS }, (_, index) => `t${index} `).join('');
  expect(texts).toEqual(Array(STREAMS).fill(expected));
});

/** The tokens of one streamed run, put together. */
async function spoken(http: HttpClient): Promise<string> {
  const body = { assistant_id: 'tokens', input: { count: TOKENS }, stream_mode: ['messages-tuple'] };
  const { status, events } = await http.stream('POST', '/runs/stream', { body });
  expect(status).toBe(200);
  let text = '';
  for await (const { event, data } of events) {
    if (event === 'messages') text += (JSON.parse(data) as [{ content: string }])[0].content;
  }
  return text;
}
