import { afterEach, expect, test, vi } from 'vitest';
import { idempotencyService } from '../../src/services/idempotency.ts';
import type { KeyClaim, KeyClaimRules, StoredResponse } from '../../src/storage/idempotency.ts';
import { bareServer } from '../support/bare-server.ts';

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
const RUN = { run_id: ID, thread_id: ID, kwargs: { resumable: false } };

afterEach(() => {
  vi.useRealTimers();
});

/** A server with one key in its storage, and the result of its only run. */
async function serverWithKey() {
  const result = Promise.withResolvers<string>();
  const claims: boolean[] = [];
  const saveResponse = vi.fn(async (_key: unknown, _answer: StoredResponse) => {});
  const claim = async (_key: unknown, _request: string, { is_processing }: KeyClaimRules) => {
    claims.push(is_processing);
    const answer = saveResponse.mock.calls[0]?.[1];
    return (answer ? { outcome: 'answered', answer } : { outcome: 'new' }) as KeyClaim;
  };
  const keys = { claim, saveResponse, release: async () => {} };
  const idempotency = idempotencyService({ keys: keys as never, worker_id: ID });
  async function* follow() {}
  const runs = { create: async () => RUN, result: () => result.promise, follow };
  const server = await bareServer({ services: { idempotency, runs } });
  const url = await server.listen();
  const send = (kind: string) =>
    fetch(`${url}/threads/${ID}/runs/${kind}`, {
      method: 'POST',
      headers: { 'idempotency-key': 'once' },
      body: JSON.stringify({ assistant_id: 'echo' }),
    });
  return { ...server, send, result, claims, saveResponse };
}

/** The answer to a wait that takes longer than the first newline comes. */
async function longWait({ send, result }: Awaited<ReturnType<typeof serverWithKey>>): Promise<Response> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const sent = send('wait');
  await vi.waitUntil(() => vi.getTimerCount() > 0, 50_000);
  vi.advanceTimersByTime(5000);
  const answer = await sent;
  result.resolve('{"x":1}');
  expect(await answer.clone().text()).toBe('\n{"x":1}');
  return answer;
}

test('a response that took longer than the first newline is replayed unchanged', async () => {
  await using server = await serverWithKey();
  const first = await longWait(server);

  const again = await server.send('wait');
  expect([await again.text(), again.headers.get('idempotency-replayed')]).toEqual(['{"x":1}', 'true']);
  for (const name of ['content-type', 'content-location', 'location'])
    expect(again.headers.get(name)).toBe(first.headers.get(name));
});

test('a response that cannot be stored for its Idempotency-Key is still sent', async () => {
  await using server = await serverWithKey();
  server.saveResponse.mockRejectedValue(new Error('disk full'));
  await longWait(server);
});

test('a request with an Idempotency-Key is no longer in progress once its stream has begun', async () => {
  await using server = await serverWithKey();
  for (let i = 0; i < 2; i++) await (await server.send('stream')).text();
  expect(server.claims).toEqual([false, false]);
});
