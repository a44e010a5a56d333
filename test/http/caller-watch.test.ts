import Fastify, { type FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { Identity } from '../../src/auth/actor.ts';
import { Unauthorized } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { sleep } from '../../src/core/timers.ts';
import { callerWatch } from '../../src/http/caller-watch.ts';
import { authenticateHook } from '../../src/http/plugins/auth.ts';

const IDENTITY: Identity = { user: null, scope: 'admin', rules: [], principal: '', key: 'one' };

test('a watch of a caller that began during a check of an earlier one ends when it is disposed', async () => {
  const authenticate = vi.fn(async () => IDENTITY);
  await using server = Fastify();
  const authenticated = authenticateHook(server, { authenticate, has_users: false, issuers: [] }, () => ({}));
  server.addHook('onRequest', async (request) => void (await authenticated(request)));
  const { promise, resolve } = Promise.withResolvers<FastifyRequest>();
  server.get('/', async (request) => resolve(request));
  await server.inject('/');
  const request = await promise;
  const watch = callerWatch({ authenticate, authenticate_every_ms: 20, logger: silentLogger });

  const check = Promise.withResolvers<Identity>();
  authenticate.mockClear().mockImplementationOnce(() => check.promise);
  const before = watch.watch(request, () => {});
  await vi.waitFor(() => expect(authenticate).toHaveBeenCalledOnce(), 50_000);
  before[Symbol.dispose]();
  const after = watch.watch(request, () => {});
  check.reject(new Unauthorized('This API key was revoked.'));
  await expect(check.promise).rejects.toThrow();
  after[Symbol.dispose]();
  authenticate.mockClear();
  await sleep(100);
  expect(authenticate).not.toHaveBeenCalled();
});
