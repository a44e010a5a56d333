import { expect, test } from 'vitest';
import { selectState } from '../../src/graphs/runtime/state-selection.ts';
import { emptyThreadState } from '../../src/graphs/runtime/thread-state.ts';

const STATE = { ...emptyThreadState(), values: { x: 1, 'a.b': 2, log: [] }, next: ['ask'] };

test('a state without a selection is complete', () => {
  expect(selectState(STATE, undefined)).toEqual(STATE);
  expect(selectState(STATE, null)).toEqual(STATE);
});

test('a selected state has only the named fields', () => {
  expect(selectState(STATE, ['next', 'created_at'])).toEqual({ next: ['ask'], created_at: null });
  expect(selectState(STATE, [])).toEqual({});
});

test('a selection can name single channels of the values', () => {
  expect(selectState(STATE, ['values.x', 'values.a.b', 'values.none'])).toEqual({
    values: { x: 1, 'a.b': 2 },
  });
  expect(selectState(STATE, ['values', 'values.x'])).toEqual({ values: STATE.values });
  expect(selectState({ ...STATE, values: 'text' }, ['values.x'])).toEqual({ values: {} });
});
