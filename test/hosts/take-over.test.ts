import { expect, test } from 'vitest';
import { HostLost, LeaseLost } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { CheckpointAccess } from '../../src/graphs/checkpointer/checkpoint-access.ts';
import type { GraphStoreAccess } from '../../src/graphs/store/graph-store.ts';
import type { Host } from '../../src/hosts/pool/host.ts';
import { Sessions, serverHandlers } from '../../src/hosts/pool/sessions.ts';
import { TakeOvers } from '../../src/hosts/pool/take-over.ts';

/** A host with these runs, whose event loop has been blocked for so long. */
function blockedHost(blocked_ms: number, place: object | undefined, run_ids: readonly string[]): Host {
  const takeRuns = (isTaken: (run_id: string) => boolean) => run_ids.filter(isTaken);
  const taken: string[] = [];
  const host = {
    blocked_ms,
    status: { place },
    taken,
    takeRuns(isTaken: (run_id: string) => boolean) {
      const now = takeRuns(isTaken);
      taken.push(...now);
      return now;
    },
  };
  return host as object as Host;
}

const takenFrom = (host: Host) => (host as object as { taken: string[] }).taken;

test('all runs of a blocked host are taken from it but the one that computes', () => {
  const host = blockedHost(1000, { run_id: 'b', at: 'graph.ts:1:1' }, ['a', 'b', 'c']);
  new TakeOvers().relieve([host]);
  expect(takenFrom(host)).toEqual(['a', 'c']);
});

test('all runs are taken from a host that is blocked by code outside of runs', () => {
  const host = blockedHost(1000, { at: 'auth.ts:1:1' }, ['a', 'b']);
  new TakeOvers().relieve([host]);
  expect(takenFrom(host)).toEqual(['a', 'b']);
});

test('no run is taken while it is unknown which one computes, or from a host that is not blocked', () => {
  const unknown = blockedHost(9000, {}, ['a', 'b']);
  const free = blockedHost(0, undefined, ['c']);
  new TakeOvers().relieve([unknown, free]);
  expect([takenFrom(unknown), takenFrom(free)]).toEqual([[], []]);
});

test('a run that was taken before stays four times as long in the next blocked host', () => {
  const takeOvers = new TakeOvers();
  const takenAfter = (blocked_ms: number) => {
    const host = blockedHost(blocked_ms, { run_id: 'b' }, ['a', 'b']);
    takeOvers.relieve([host]);
    return takenFrom(host);
  };
  expect(takenAfter(1000)).toEqual(['a']);
  expect([takenAfter(3999), takenAfter(4000)]).toEqual([[], ['a']]);
  expect([takenAfter(15_999), takenAfter(16_000)]).toEqual([[], ['a']]);
});

test('what a host sends for a run that was taken from it has no effect', async () => {
  const sessions = new Sessions();
  const seen: unknown[] = [];
  const onLost = (reason: HostLost) => seen.push(reason);
  const never = () => seen.push('message');
  const run = { run_id: 'a', onEvents: never, onOutput: never, onEnd: never, onLost };
  const put = async () => seen.push('checkpoint') > 0;
  const session = sessions.open({
    run,
    checkpoints: { put, record: never } as Partial<CheckpointAccess> as never,
  });
  const reason = new HostLost('blocked', false);
  expect(sessions.take(() => true, reason)).toEqual([{ session: session.id, run_id: 'a' }]);
  expect([sessions.runs, sessions.size, sessions.wasTaken('a')]).toEqual([0, 0, true]);

  const apply = async () => void seen.push('store');
  const handlers = serverHandlers(
    sessions,
    () => ({ apply }) as Partial<GraphStoreAccess> as never,
    silentLogger,
  );
  handlers['run/events']({ session: session.id, events: ['values', '{}'] });
  handlers['run/end']({ session: session.id, steps: [] });
  const checkpoint = { session: session.id, durability: 'async', checkpoint: {} } as never;
  await expect(handlers['checkpoint/put'](checkpoint)).rejects.toThrow(LeaseLost);
  await expect(handlers['store/apply']({ session: session.id, changes: '[]' })).rejects.toThrow(LeaseLost);
  session[Symbol.dispose]();
  expect([seen, sessions.runs]).toEqual([[reason], 0]);

  // Once it has come back, it is like any other run of the host.
  using _next = sessions.open({ run });
  expect(sessions.wasTaken('a')).toBe(false);
});
