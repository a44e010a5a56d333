import { expect, test } from 'vitest';
import { dispatchingAlone } from '../support/dispatching.ts';
import { naming } from '../support/naming.ts';
import { receiver } from '../support/receiver.ts';

/** A port of this machine on which nobody listens. */
async function closedPort(): Promise<string> {
  await using hook = await receiver();
  return hook.url;
}

test.each([200, 201, 202, 204, 299])('a webhook response %i counts as delivered', async (status) => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push(status);
  expect(await to.send(hook.url)).toMatchObject({ status: 'delivered' });
});

test.each([408, 425, 429, 500, 502, 503, 504, 599])('a webhook response %i is retried', async (status) => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push((_request, response) => response.writeHead(status).end('busy'));
  expect(await to.send(hook.url)).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: status, error: `answered ${status}`, answer: 'busy' }],
  });
});

test.each([200, 503])(
  'the headers of a webhook response %i are stored with the attempt, without secrets',
  async (status) => {
    await using hook = await receiver();
    await using to = await dispatchingAlone();
    hook.answers.push((_request, response) => {
      response.sendDate = false;
      response.setHeader('X-Request-Id', 'r-17');
      response.setHeader('Set-Cookie', ['sid=abc', 'b=c']);
      response.setHeader('Proxy-Authorization', 'Basic abc');
      response.setHeader('X-Auth-Token', 'abc');
      response.setHeader('Via', 'Bearer abcdefghijk');
      response.setHeader('Vary', ['accept', 'origin']);
      response.writeHead(status, { connection: 'close', 'content-length': 0 }).end();
    });
    expect((await to.send(hook.url)).attempts).toMatchObject([
      {
        answer_headers: {
          'x-request-id': 'r-17',
          'set-cookie': '***',
          'proxy-authorization': '***',
          'x-auth-token': '***',
          via: 'Bearer ***',
          vary: expect.stringMatching(/^accept, ?origin$/),
        },
      },
    ]);
  },
);

test('only the first of many or long webhook response headers are stored', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push((_request, response) => {
    for (let n = 0; n < 9; n += 1) response.setHeader(`x-long-${n}`, 'ä'.repeat(1500));
    response.writeHead(503).end();
  });
  const [attempt] = (await to.send(hook.url)).attempts;
  expect(Object.keys(attempt?.answer_headers ?? {})).toEqual(['x-long-0', 'x-long-1', 'x-long-2']);
  expect(Buffer.byteLength(JSON.stringify(attempt?.answer_headers))).toBeLessThan(4200);
});

test('a webhook attempt without a response has no headers', async () => {
  await using to = await dispatchingAlone();
  expect(await to.send(await closedPort())).toMatchObject({ attempts: [{ answer_headers: null }] });
});

test.each([300, 304, 400, 401, 403, 404, 405, 410, 413, 422])(
  'a webhook response %i ends the delivery',
  async (status) => {
    await using hook = await receiver();
    await using to = await dispatchingAlone();
    hook.answers.push(status);
    expect(await to.send(hook.url)).toMatchObject({ status: 'dead', attempts: [{ status_code: status }] });
  },
);

test.each([
  ['seconds', '120', 120_000],
  ['a date', 'Fri, 20 Nov 2026 12:02:00 GMT', 119_500],
  ['a date in the past', 'Fri, 20 Nov 2026 11:00:00 GMT', 1000],
  ['less than the backoff', '0', 1000],
  ['nonsense', 'soon', 1000],
])(
  'a webhook receiver that sends Retry-After with %s is not retried earlier',
  async (_form, header, wait_ms) => {
    await using hook = await receiver();
    await using to = await dispatchingAlone();
    hook.answers.push((_request, response) => response.writeHead(429, { 'retry-after': header }).end());
    await to.send(hook.url);
    expect(to.waits_ms).toEqual([wait_ms]);
  },
);

test('a webhook receiver that does not respond is retried', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone({ timeout_ms: 100 });
  hook.answers.push(() => {});
  expect(await to.send(hook.url)).toMatchObject({
    status: 'pending',
    attempts: [{ status_code: null, error: naming('not reached: ', 'in time') }],
  });
});

test('an unreachable webhook receiver is retried', async () => {
  await using to = await dispatchingAlone();
  expect(await to.send(await closedPort())).toMatchObject({
    status: 'pending',
    attempts: [{ error: 'not reached: ECONNREFUSED' }],
  });
});

test('a webhook receiver that closes the connection is retried', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push((request) => request.socket.destroy());
  expect(await to.send(hook.url)).toMatchObject({ status: 'pending', attempts: [{ status_code: null }] });
});

test('an endless webhook response is aborted, and its status counts', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  let cut: Promise<void> | undefined;
  hook.answers.push((_request, response) => {
    cut = new Promise((closed) => response.on('close', () => closed()));
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
    };
    response.writeHead(500).on('drain', more);
    more();
  });
  const { status, attempts } = await to.send(hook.url);
  await cut;
  expect(status).toBe('pending');
  expect(attempts[0]?.answer).toHaveLength(1024);
});

test('a webhook response that breaks off counts by its status', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push((request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy());
  });
  expect(await to.send(hook.url)).toMatchObject({ status: 'delivered' });
});

test('a webhook delivery that cannot be sent is dead at once', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  const delivery_id = await to.enqueue({ url: hook.url, headers: { 'x-bad': 'two\nlines' } });
  await to.turn();
  expect(await to.look(delivery_id)).toMatchObject({
    status: 'dead',
    attempts: [{ error: 'not reached: UND_ERR_INVALID_ARG' }],
  });
});

test('a webhook delivery with one allowed attempt is dead after it', async () => {
  await using hook = await receiver();
  await using to = await dispatchingAlone();
  hook.answers.push(500);
  const delivery_id = await to.enqueue({ url: hook.url, max_tries: 1 });
  await to.turn();
  expect(await to.look(delivery_id)).toMatchObject({ status: 'dead', attempts: [{ status_code: 500 }] });
});
