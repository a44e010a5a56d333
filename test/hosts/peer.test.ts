import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  BadRequest,
  LeaseLost,
  ProjectFailure,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
  Unavailable,
} from '../../src/core/errors.ts';
import { failureClass } from '../../src/core/failure-class.ts';
import { encodeFrame } from '../../src/hosts/protocol/frames.ts';
import { ConnectionClosed, type Handlers, Peer, ProtocolError } from '../../src/hosts/protocol/peer.ts';
import { failure } from '../support/naming.ts';

const METHODS = {
  echo: { params: z.object({ text: z.string() }), result: z.object({ text: z.string() }) },
  say: { params: z.object({ text: z.string() }) },
} as const;

/** Both ends of a connection, as between processes. */
async function socketPair(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const near = dial(port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [near, far];
}

async function connect(handlers: Partial<Handlers<typeof METHODS>> = {}) {
  const [near, far] = await socketPair();
  const all = { echo: (params: { text: string }) => params, say: () => {}, ...handlers };
  const options = { ours: METHODS, theirs: METHODS, handlers: all };
  return { caller: new Peer(near, options), called: new Peer(far, options), near };
}

test('a request between server and host is answered', async () => {
  const { caller } = await connect();
  expect(await caller.request('echo', { text: 'hello' })).toEqual({ text: 'hello' });
});

test('a method that is added to both ends is answered, and its params are checked', async () => {
  const { caller, called } = await connect();
  await expect(caller.request('late' as 'echo', { text: 'early' })).rejects.toEqual(failure(Error, 'late'));
  const late = { late: { params: z.object({ of: z.string() }), result: z.object({ to: z.string() }) } };
  const handlers = { late: ({ of }: { of: string }) => ({ to: of }) };
  called.extend({ ours: late, theirs: {}, handlers });
  const extended = caller.extend({ ours: {}, theirs: late, handlers: {} });
  expect(await extended.request('late', { of: 'both' })).toEqual({ to: 'both' });
  expect(await caller.request('echo', { text: 'still' })).toEqual({ text: 'still' });
  await expect(extended.request('late', { of: 1 as never })).rejects.toThrow(ConnectionClosed);
});

test('messages to a host are handled in the order of sending, even while responses are pending', async () => {
  const heard: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { caller } = await connect({
    async echo(params) {
      heard.push(params.text);
      await gate.promise;
      return params;
    },
    say: ({ text }) => void heard.push(text),
  });
  const first = caller.request('echo', { text: '1' });
  caller.notify('say', { text: '2' });
  const third = caller.request('echo', { text: '3' });
  caller.notify('say', { text: '4' });
  await expect.poll(() => heard).toEqual(['1', '2', '3', '4']);
  gate.resolve();
  expect(await Promise.all([first, third])).toEqual([{ text: '1' }, { text: '3' }]);
});

test.each([
  new BadRequest('no'),
  new Unavailable('later'),
  new LeaseLost('r1'),
  new StorageUnavailable('away'),
  new StorageBusy('locked'),
  new StorageRefused(Object.assign(new Error('unique'), { code: '23505' })),
  new ProjectFailure('no embeddings'),
  new TypeError('own', { cause: new RangeError('deeper') }),
])('an error crosses the host connection with class, name, message, stack and cause: %s', async (thrown) => {
  const { caller } = await connect({ echo: () => Promise.reject(thrown) });
  const error: Error = await caller.request('echo', { text: '' }).then(
    () => expect.unreachable(),
    (failure) => failure,
  );
  expect(error).toMatchObject({ name: thrown.name, message: thrown.message, stack: thrown.stack });
  if (!(thrown instanceof TypeError)) expect(error.constructor).toBe(thrown.constructor);
  expect((error.cause as Error | undefined)?.message).toBe((thrown.cause as Error | undefined)?.message);
});

test.each(['LeaseLost', 'StorageUnavailable', 'UnknownInterruptError'])(
  'an error of the project that is named %s arrives as a plain error',
  async (name) => {
    const thrown = Object.assign(new Error('connect ECONNREFUSED'), { name });
    const { caller } = await connect({ echo: () => Promise.reject(thrown) });
    const error: unknown = await caller.request('echo', { text: '' }).catch((failure: unknown) => failure);
    expect(failureClass(error)).toBe('unknown');
    expect(error).not.toBeInstanceOf(LeaseLost);
    expect((error as Error).constructor).toBe(Error);
  },
);

test('an error of a notification handler does not end the host connection', async () => {
  const { caller } = await connect({
    say: () => {
      throw new Error('not heard');
    },
  });
  caller.notify('say', { text: '' });
  expect(await caller.request('echo', { text: 'still here' })).toEqual({ text: 'still here' });
});

test('a host request with an unknown method gets an error', async () => {
  const { caller } = await connect();
  const missing = caller.request('shout' as 'echo', { text: '' });
  await expect(missing).rejects.toThrow(failure(Error, 'shout'));
});

test.each([
  ['no MessagePack', Buffer.from([0, 0, 0, 1, 0x81])],
  ['no message', encodeFrame(['a list'])],
  ['params of another shape', encodeFrame({ jsonrpc: '2.0', method: 'say', params: { text: 1 } })],
  ['an answer to no request', encodeFrame({ jsonrpc: '2.0', id: 99, result: {} })],
])('garbage closes the host connection and fails pending requests: %s', async (_what, bytes) => {
  const { caller, called, near } = await connect({ echo: () => new Promise(() => {}) });
  const waiting = caller.request('echo', { text: '' });
  near.write(bytes);
  expect(await called.closed).toBeInstanceOf(Error);
  await expect(waiting).rejects.toBeInstanceOf(ConnectionClosed);
  await expect(caller.request('echo', { text: '' })).rejects.toBeInstanceOf(ConnectionClosed);
});

test('an invalid response closes the host connection', async () => {
  const { caller } = await connect({ echo: () => ({ text: 1 }) as never });
  await expect(caller.request('echo', { text: '' })).rejects.toBeInstanceOf(ProtocolError);
});
