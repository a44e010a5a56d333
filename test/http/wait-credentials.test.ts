import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { UNRESTRICTED } from '../../src/auth/actor.ts';
import { BadRequest, Forbidden, type ServerError, Unauthorized } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { callerWatch } from '../../src/http/caller-watch.ts';
import { trackConnections } from '../../src/http/connections.ts';
import { type KeepAliveOptions, keepAliveJsonSender } from '../../src/http/keep-alive-json.ts';
import { authenticateHook } from '../../src/http/plugins/auth.ts';

const REVOKED = new Unauthorized('This API key was revoked');

/** What a client gets whose credential ends as soon as the first whitespace has come; and how often it was let in. */
async function refused(refusal: ServerError, options: KeepAliveOptions = {}) {
  await using server = fastify();
  let hasEnded = false;
  const key = randomUUID();
  const authenticate = async () => {
    if (hasEnded) throw refusal;
    return { ...UNRESTRICTED, key };
  };
  const auth = { authenticate, has_users: false, issuers: [], authenticate_every_ms: 1 };
  const identify = authenticateHook(server, auth, () => ({}));
  server.addHook('onRequest', async (request) => void (await identify(request)));
  const callers = callerWatch({ ...auth, logger: silentLogger });
  const send = keepAliveJsonSender(trackConnections(server, silentLogger), callers, silentLogger, 1);
  const result = async (signal: AbortSignal) => {
    if (!signal.aborted) await once(signal, 'abort');
    return '{"x":1}';
  };
  server.get('/', (_request, reply) => send(reply, {}, result, options));
  const answer = await fetch(await server.listen({ port: 0, host: '127.0.0.1' }));
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    hasEnded = true;
    chunks.push(chunk);
  }
  return { status: answer.status, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

test.for([
  [REVOKED, '401: This API key was revoked'],
  [new Forbidden('Forbidden'), '403: Forbidden'],
] as const)(
  'a wait for a result ends with the reason when its credential does: %s',
  async ([refusal, message]) => {
    const __error__ = { error: 'HTTPException', message };
    expect(await refused(refusal)).toEqual({ status: 200, body: { __error__ } });
  },
);

test('the run of a wait whose credential ended continues, even with on_disconnect cancel', async () => {
  let abandoned = 0;
  const onDisconnect = async () => {
    abandoned += 1;
  };
  await refused(REVOKED, { onDisconnect });
  expect(abandoned).toBe(0);
});

test('a wait over another protocol whose credential ends gets an error of that protocol', async () => {
  const errorBody = ({ status, message }: ServerError) => ({ code: status, message });
  const { body } = await refused(REVOKED, { errorBody });
  expect(body).toEqual({ code: 401, message: REVOKED.message });
});

test('a wait over another protocol that fails late gets an error of that protocol', async () => {
  await using server = fastify();
  const callers = { watch: () => ({ [Symbol.dispose]() {} }) };
  const send = keepAliveJsonSender(trackConnections(server, silentLogger), callers, silentLogger, 1);
  const errorBody = ({ status, message }: ServerError) => ({ code: status, message });
  const late = Promise.withResolvers<string>();
  server.get('/', (_request, reply) => send(reply, {}, () => late.promise, { errorBody }));
  const answer = await fetch(await server.listen({ port: 0, host: '127.0.0.1' }));
  late.reject(new BadRequest('no'));
  expect(await answer.json()).toEqual({ code: 400, message: 'no' });
});
