import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';
import { hasList, toJsonInSlices } from '../../src/core/json-slices.ts';

const LONG = { text: 'ü"\\\0'.repeat(40_000) };

test.each([
  ['a list', [1, 'two', null, undefined, { three: 3 }]],
  ['an empty list', []],
  ['a list of one', [LONG]],
  ['a list of large objects', [LONG, LONG, LONG]],
  ['an object with a list', { items: [LONG, LONG], next: undefined, at: new Date(0), 'a "name"': [] }],
  ['an empty object', {}],
  ['an object in an object', { id: 1, result: { tasks: [LONG, { a: [1, 2] }], none: {} } }],
  ['a text', 'text'],
  ['nothing', undefined],
])('%s has the same text in slices as in one go', async (_, value) => {
  expect(String(await toJsonInSlices(value))).toBe(toJson(value));
});

test('the event loop gets a turn while a large list is printed', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  });
  const numbers = Array.from({ length: 2_000 }, () => ({
    numbers: Array.from({ length: 2_000 }, (_, n) => n),
  }));
  await toJsonInSlices(numbers);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});

test('lists are found in a response and in its members', () => {
  expect([[1, 2], { items: [1, 2] }].map(hasList)).toEqual([true, true]);
  expect(
    [[], [1], {}, { items: [] }, { values: { items: [1, 2] } }, null, 'text'].map(hasList),
  ).not.toContain(true);
});
