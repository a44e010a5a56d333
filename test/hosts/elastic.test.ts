import { expect, test } from 'vitest';
import { Elasticity } from '../../src/hosts/pool/elastic.ts';
import type { Host } from '../../src/hosts/pool/host.ts';

interface Seen {
  blocked_ms?: number;
  late_ms?: number;
  runs?: number;
  active?: number;
  recent?: number;
}

/** What a pool knows of a host. */
function hostWith({ blocked_ms = 0, late_ms = 0, runs = 0, active = 0, recent = 0 }: Seen) {
  const sessions = { runs: active, size: active };
  const host = { blocked_ms, status: { late_ms }, runs, sessions, load: async () => ({ recent }) };
  return host as object as Host & typeof host;
}

const still = { monotonic: () => 0 };

test('hosts are held up once the event loop of each is late or blocked', () => {
  const { areHeldUp } = new Elasticity(still);
  expect(areHeldUp([hostWith({ late_ms: 499 })])).toBe(false);
  expect(areHeldUp([hostWith({ late_ms: 500 })])).toBe(true);
  expect(areHeldUp([hostWith({ blocked_ms: 1000 }), hostWith({})])).toBe(false);
  expect(areHeldUp([hostWith({ blocked_ms: 1000 }), hostWith({ late_ms: 800 })])).toBe(true);
});

test('hosts are busy once each has computed for several runs at two checks in a row', async () => {
  const elasticity = new Elasticity(still);
  const busy = hostWith({ active: 2, recent: 1 });
  expect(await elasticity.areBusy([busy])).toBe(false);
  expect(await elasticity.areBusy([busy, hostWith({ active: 2, recent: 0.2 })])).toBe(false);
  expect(await elasticity.areBusy([busy])).toBe(false);
  expect(await elasticity.areBusy([busy])).toBe(true);
});

test('a host that computes for one run alone, or no host at all, is not busy', async () => {
  const elasticity = new Elasticity(still);
  for (const hosts of [[hostWith({ active: 1, recent: 1 })], []])
    for (let checks = 0; checks < 3; checks += 1) expect(await elasticity.areBusy(hosts)).toBe(false);
});

test('a host is idle after a minute without a run, and any run begins the minute anew', () => {
  let now = 0;
  const elasticity = new Elasticity({ monotonic: () => now });
  const host = hostWith({});
  const idleAt = (at: number) => {
    now = at;
    return elasticity.idle([host]).length === 1;
  };
  expect([idleAt(0), idleAt(59_000)]).toEqual([false, false]);
  // Between two checks it was given a run, which has ended.
  host.runs += 1;
  expect([idleAt(60_000), idleAt(119_000), idleAt(120_000)]).toEqual([false, false, true]);
  // Something else than a run, such as a request of the custom app.
  host.sessions.size = 1;
  expect(idleAt(121_000)).toBe(false);
});
