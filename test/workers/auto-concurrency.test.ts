import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { BUSY, type ProcessLoad } from '../../src/core/process-load.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { Run } from '../../src/schemas/runs.ts';
import { AutoConcurrency, type AutoConcurrencyDeps } from '../../src/workers/auto-concurrency.ts';
import { MAX_LOOK_MS } from '../../src/workers/load-limits.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';
import { until } from '../support/until.ts';

const FLOOR = 10;
const IDLE: ProcessLoad = {
  recent: 0,
  average: 0,
  window_ms: 5,
  heap_bytes: 100,
  heap_limit_bytes: 100_000,
  rss_bytes: 100,
};

/** `auto` on a quiet machine; the test says what differs. */
function autoOf(deps: Partial<AutoConcurrencyDeps> = {}): AutoConcurrency {
  return new AutoConcurrency({
    clock: systemClock,
    ownLoad: () => IDLE,
    hostLoads: async () => [],
    isDatabaseBusy: () => false,
    isAlone: async () => true,
    ...deps,
  });
}

/** Runs that say that they have begun, and wait until the test lets them go on. */
function waitingGraph() {
  const gate = Promise.withResolvers<void>();
  const count = { entered: 0, now: 0, most: 0 };
  const graph = scriptedGraph(async function* (): AsyncGenerator<GraphEvent> {
    yield { event: 'values', data: {} };
    count.entered += 1;
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    await gate.promise;
    count.now -= 1;
  });
  return { graph, count, open: () => gate.resolve() };
}

async function enqueueAll(story: ReturnType<typeof executingWorker>, count: number): Promise<Run[]> {
  const runs: Run[] = [];
  for (let index = 0; index < count; index += 1) runs.push(await story.enqueue());
  return runs;
}

async function expectSuccess(story: ReturnType<typeof executingWorker>, runs: readonly Run[]) {
  for (const run of runs) expect(await story.ended(run)).toBe('success');
}

describeEachDatabase('runs.concurrency: auto', (open) => {
  test('executes 200 waiting runs at once', async () => {
    await using db = await open();
    const { graph, count, open: openGate } = waitingGraph();
    const story = executingWorker(db, graph, {}, undefined, { concurrency: FLOOR, auto: autoOf() });
    const runs = await enqueueAll(story, 200);
    story.worker.start();
    await until('all have entered', () => count.entered === 200);
    expect(story.worker.active).toBe(200);
    expect(story.worker.slots).toBe(1000);
    openGate();
    await expectSuccess(story, runs);
    await story.worker.stop(0);
  });

  test('executes no more than ten runs while those keep the process busy', async () => {
    await using db = await open();
    const { graph, count, open: openGate } = waitingGraph();
    let measured = 0;
    const ownLoad = () => {
      measured += Number(count.now === FLOOR);
      return BUSY;
    };
    const auto = autoOf({ ownLoad });
    const story = executingWorker(db, graph, {}, undefined, { concurrency: FLOOR, auto });
    const runs = await enqueueAll(story, 60);
    story.worker.start();
    await until('it has often looked whether there is room', () => measured > 20);
    expect(count.most).toBe(FLOOR);
    openGate();
    await expectSuccess(story, runs);
    await story.worker.stop(0);
  });
});

describe('auto admits none beyond ten', () => {
  test.each<[string, Partial<AutoConcurrencyDeps>]>([
    ['while the heap is nearly full', { ownLoad: () => ({ ...IDLE, heap_bytes: 80_000 }) }],
    ['while the processes use the memory that they may', { ownLoad: () => ({ ...IDLE, rss_bytes: 1e15 }) }],
    ['while the event loop computes', { ownLoad: () => ({ ...IDLE, recent: 1 }) }],
    ['while the hosts compute', { hostLoads: async () => [{ ...IDLE, recent: 1 }] }],
    ['while a host is at its limit', { hostLoads: async () => [IDLE], max_host_bytes: 110 }],
    ['while all connections are in use', { isDatabaseBusy: () => true }],
  ])('%s', async (_, deps) => {
    const { auto, asked } = await decided(deps);
    expect(asked).toBe(0);
    expect(auto.slots).toBe(FLOOR);
  });

  test('while a run that it claimed has not begun', async () => {
    let now = 0;
    const auto = autoOf({ clock: { monotonic: () => now } });
    auto.claimed('run');
    const admitted: number[] = [];
    for (now = 0; now <= 20; now += 5) admitted.push(await auto.admit(FLOOR));
    expect(admitted).toEqual([0, 0, 0, 0, 0]);
    auto.begun('run');
    now += 5;
    expect(await auto.admit(FLOOR)).toBeGreaterThan(0);
  });
});

/** What the first decision is. */
async function decided(deps: Partial<AutoConcurrencyDeps>) {
  let now = 0;
  const auto = autoOf({ clock: { monotonic: () => now }, ...deps });
  expect(await auto.admit(FLOOR)).toBe(0);
  now += auto.wait_ms;
  return { auto, asked: await auto.admit(FLOOR) };
}

test('one busy host of four leaves room for runs, but a host that does not respond for long does not', async () => {
  const BUSY = { ...IDLE, recent: 1, average: 1 };
  expect((await decided({ hostLoads: async () => [BUSY, IDLE, IDLE, IDLE] })).asked).toBe(10);
  expect((await decided({ hostLoads: async () => [BUSY, BUSY] })).asked).toBe(0);
});

test('batches of claimed runs grow while runs wait, and shrink when they compute', async () => {
  let now = 0;
  let load = IDLE;
  const auto = autoOf({ clock: { monotonic: () => now }, ownLoad: () => load });
  const next = async () => {
    await auto.admit(FLOOR);
    now += auto.wait_ms;
    return auto.admit(FLOOR);
  };
  expect([await next(), await next(), await next(), await next()]).toEqual([10, 20, 40, 40]);
  load = { ...IDLE, recent: 1 };
  expect(await next()).toBe(0);
  load = IDLE;
  now += auto.wait_ms;
  expect(await auto.admit(FLOOR)).toBe(20);
});

test('a process with peers lets them claim first', async () => {
  let now = 0;
  const alone = autoOf({ clock: { monotonic: () => now } });
  const shared = autoOf({ clock: { monotonic: () => now }, isAlone: async () => false });
  await alone.admit(FLOOR);
  await shared.admit(FLOOR);
  expect(shared.wait_ms).toBeGreaterThan(alone.wait_ms + MAX_LOOK_MS);
  now += alone.wait_ms;
  expect([await alone.admit(FLOOR), await shared.admit(FLOOR)]).toEqual([10, 0]);
});

describeEachDatabase('a number as runs.concurrency', (open) => {
  test('is exact: that many waiting runs execute at once, and no more', async () => {
    await using db = await open();
    const concurrency = 4;
    const { graph, count, open: openGate } = waitingGraph();
    const story = executingWorker(db, graph, {}, undefined, { concurrency });
    const runs = await enqueueAll(story, 3 * concurrency);
    story.worker.start();
    await until('the slots are taken', () => count.entered === concurrency);
    for (let turn = 0; turn < 5; turn += 1) await story.worker.tick();
    expect([story.worker.active, story.worker.slots]).toEqual([concurrency, concurrency]);
    openGate();
    await expectSuccess(story, runs);
    expect(count.most).toBe(concurrency);
    await story.worker.stop(0);
  });
});
