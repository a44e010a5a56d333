import { expect, test } from 'vitest';
import { recordedStore } from '../../src/graphs/steps/recorded-store.ts';
import { placeOf, StepRecorder } from '../../src/graphs/steps/recorder.ts';

/** A store whose calls take 1 ms each, and what is recorded of it. */
function recording({ has_contents = false } = {}) {
  let now = 0;
  const recorder = new StepRecorder('all', { now: () => now, monotonic: () => now }, { has_contents });
  const act = async (_namespace: unknown, key: string) => {
    now += 1;
    if (key === 'refused') throw new Error('refused');
    return null;
  };
  const store = recordedStore({ get: act, put: act }, recorder, {}) as Record<'get' | 'put', typeof act>;
  const steps = () =>
    recorder.take().map(({ name, status, started_at, ended_at }) => [name, status, started_at, ended_at]);
  return { recorder, store, steps };
}

async function repeat(times: number, act: () => Promise<unknown>) {
  for (let n = 0; n < times; n++) await act();
}

test('the first sixteen consecutive store calls are steps, and later ones are part of the last step', async () => {
  const { store, steps } = recording();
  await repeat(900, () => store.get([], 'a'));
  const recorded = steps();
  expect(recorded.slice(0, 2)).toEqual([
    ['get', 'success', 0, 1],
    ['get', 'success', 1, 2],
  ]);
  expect([recorded.length, recorded.at(-1)]).toEqual([16, ['get', 'success', 15, 900]]);
});

test('consecutive store calls of two kinds have a last step of each kind', async () => {
  const { store, steps } = recording();
  await repeat(20, async () => {
    await store.get([], 'a');
    await store.put([], 'a');
  });
  const recorded = steps();
  expect([recorded.length, ...recorded.slice(-2)]).toEqual([
    32,
    ['get', 'success', 30, 39],
    ['put', 'success', 31, 40],
  ]);
});

test('a store call after another step, a failure or a checkpoint is its own step', async () => {
  const { recorder, store, steps } = recording();
  await repeat(20, () => store.get([], 'a'));
  recorder.succeed(
    recorder.begin({ kind: 'model', name: 'm', place: placeOf({}), model: null, provider: null }),
  );
  await store.get([], 'a');
  await store.get([], 'refused').catch(() => {});
  await store.get([], 'a');
  expect(recorder.current()).toHaveLength(19);
  expect(steps().slice(-4)).toEqual([
    ['get', 'success', 15, 20],
    ['m', 'success', 20, 20],
    ['get', 'error', 20, 22],
    ['get', 'success', 22, 23],
  ]);
  await store.get([], 'a');
  expect(steps()).toEqual([['get', 'success', 23, 24]]);
});

test('with recorded contents, each store call is a step', async () => {
  const { store, steps } = recording({ has_contents: true });
  await repeat(30, () => store.get([], 'a'));
  expect(steps()).toHaveLength(30);
});
