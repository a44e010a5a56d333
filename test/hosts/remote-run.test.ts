import { expect, test } from 'vitest';
import { HostLost, Unavailable } from '../../src/core/errors.ts';
import type { CheckpointAccess } from '../../src/graphs/checkpointer/checkpoint-access.ts';
import { Checkpointer } from '../../src/graphs/checkpointer/checkpointer.ts';
import type { GraphCall } from '../../src/graphs/graph.ts';
import type { HostPool } from '../../src/hosts/pool/pool.ts';
import { remoteRun } from '../../src/hosts/pool/remote-run.ts';
import { WaitingForHost } from '../../src/hosts/pool/waiting.ts';

const access: Partial<CheckpointAccess> = { find: async () => [] };
const checkpointer = new Checkpointer({
  access: access as CheckpointAccess,
  thread_id: 'thread',
  run_id: 'run',
  durability: 'async',
  writer: 'ab',
  is_attempt: true,
  record: 'off',
});
const memory = { checkpointer };

/** No run has lost a host. */
const isolation = { enter: async () => undefined };

test('a run that is cancelled while its host is assigned is not started there', async () => {
  const cancel = new AbortController();
  const cancelled = new Error('cancelled');
  const asked: PropertyKey[] = [];
  // `await` itself looks for `then`.
  const host = new Proxy({}, { get: (_host, name) => (name === 'then' ? undefined : asked.push(name)) });
  const pool = {
    isolation,
    find: () => undefined,
    async take() {
      cancel.abort(cancelled);
      return host;
    },
  };
  const call = { config: { configurable: {} }, memory, signal: cancel.signal };
  const events = remoteRun(pool as never as HostPool, 'graph', call as never as GraphCall, () => {});

  await expect(events.next()).rejects.toBe(cancelled);
  expect(asked).toEqual([]);
});

test('a run that waits too long for a host is retried without charging an attempt', async () => {
  const pool = {
    isolation,
    find: () => undefined,
    take: () => Promise.reject(new Unavailable('No graph host is ready.')),
  };
  const call = {
    config: { configurable: { checkpoint_id: 'c' } },
    memory,
    signal: new AbortController().signal,
  };
  const events = remoteRun(pool as never as HostPool, 'graph', call as never as GraphCall, () => {});
  const error = await events.next().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(HostLost);
  expect(error).toMatchObject({ charge: false });
});

test('a run goes to another host if the event loop of its host is blocked', async () => {
  const hostOf = (number: number, accepts: boolean) => {
    let onEnd: (end: object) => void = () => {};
    const request = () => {
      if (!accepts) return new Promise(() => {});
      queueMicrotask(() => onEnd({}));
      return Promise.resolve({});
    };
    const open = ({ run }: { run: { onEnd: typeof onEnd } }) => {
      onEnd = run.onEnd;
      return { id: number, [Symbol.dispose]: () => {} };
    };
    return { number, runs: 0, sessions: { open }, peer: { request, notify: () => {}, isClosed: false } };
  };
  const [blocked, free] = [hostOf(1, false), hostOf(2, true)];
  const find = ({ except }: { except?: object }) => (except === blocked ? free : blocked);
  const pool = { isolation, find };
  const call = { config: { configurable: {} }, memory, signal: new AbortController().signal };
  const events = remoteRun(pool as never as HostPool, 'graph', call as never as GraphCall, () => {});

  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect([blocked.runs, free.runs]).toEqual([1, 1]);
});

test('cancelled work stops waiting for a host', async () => {
  const waiting = new WaitingForHost<object>();
  const none = () => undefined;
  const reason = new Error('cancelled');
  await expect(waiting.whenFound(none, none, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('waiting work is spread over the hosts that become free', async () => {
  const hosts = [1, 2, 3, 4].map((number) => ({ number, runs: 0 }));
  let isFree = false;
  const find = () => (isFree ? hosts.toSorted((a, b) => a.runs - b.runs)[0] : undefined);
  const waiting = new WaitingForHost<(typeof hosts)[number]>();
  const work = Array.from({ length: 20 }, async () => {
    const host = await waiting.whenFound(find, () => undefined);
    host.runs += 1;
  });
  isFree = true;
  waiting.notify();
  waiting.notify();
  await Promise.all(work);
  expect(hosts.map(({ runs }) => runs)).toEqual([5, 5, 5, 5]);
});
