import { expect, test } from 'vitest';
import { placeOf, StepRecorder, type TokenCounts } from '../../src/graphs/steps/recorder.ts';
import { SERVER_METHODS } from '../../src/hosts/protocol/messages.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;
const TOKENS: TokenCounts = { tokens_in: 7, tokens_cached: null, tokens_out: 3 };

/** A recorder of at most two steps, and what calls models and tools. */
function recording() {
  const clock = { now: () => NOON + days * DAY_MS, monotonic: () => 0 };
  let days = 0;
  const recorder = new StepRecorder('all', clock, { max_steps: 2 });
  const begin = (kind: 'model' | 'tool', model: string | null) =>
    recorder.begin({ kind, name: kind, place: placeOf({}), model, provider: null });
  return {
    recorder,
    begin,
    call: (model: string, tokens?: TokenCounts) => recorder.succeed(begin('model', model), tokens),
    nextDay: () => {
      days += 1;
    },
  };
}

test('model calls beyond the limit of steps are summed by model and day', () => {
  const { recorder, begin, call, nextDay } = recording();
  call('small', TOKENS);
  call('small', TOKENS);
  for (let n = 0; n < 1000; n++) call('small', TOKENS);
  call('large', TOKENS);
  call('small');
  expect(begin('tool', null)).toBeUndefined();
  nextDay();
  call('small', TOKENS);
  const taken = recorder.take().map(({ model, calls, tokens_in, tokens_out }) => {
    return { model, calls, tokens_in, tokens_out };
  });
  const one = { model: 'small', tokens_in: 7, tokens_out: 3 };
  expect(taken).toEqual([
    { ...one, calls: undefined },
    { ...one, calls: undefined },
    { model: 'small', calls: 1000, tokens_in: 7000, tokens_out: 3000 },
    { ...one, model: 'large', calls: 1 },
    { model: 'small', calls: 1, tokens_in: null, tokens_out: null },
    { ...one, calls: 1 },
  ]);
  expect(recorder.take()).toEqual([]);
});

test('steps beyond the limit are not listed, and are counted when their attempt ends', () => {
  const { recorder, begin, call } = recording();
  call('small');
  call('small');
  begin('model', 'small');
  expect(recorder.current()).toHaveLength(2);
  recorder.take();
  recorder.close();
  expect(recorder.take()).toMatchObject([{ model: 'small', calls: 1, tokens_in: null }]);
});

test('a graph host reports to the server how many calls exceeded the limit of steps', () => {
  const { recorder, call } = recording();
  for (let n = 0; n < 5; n++) call('small', TOKENS);
  const steps = recorder.take();
  const received = SERVER_METHODS['run/end'].params.parse({ session: 1, steps: structuredClone(steps) });
  expect(received.steps).toEqual(steps);
  expect(received.steps?.at(-1)).toMatchObject({ calls: 3, tokens_in: 21 });
});

test('only the first thousand calls of the long-term store are recorded, and later steps still are', () => {
  const recorder = new StepRecorder('all', { now: () => NOON, monotonic: () => 0 });
  const begin = (kind: 'store' | 'tool') =>
    recorder.begin({ kind, name: 'put', place: placeOf({}), model: null, provider: null });
  for (let n = 0; n < 1500; n++) recorder.succeed(begin('store'));
  recorder.succeed(begin('tool'));
  const steps = recorder.take();
  expect([steps.length, steps.at(-1)?.kind, steps.at(-1)?.number]).toEqual([1001, 'tool', 1001]);
});
