import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  difference,
  fromRanges,
  numbersIn,
  rangesOf,
  toRanges,
  union,
} from '../../src/storage/runs/number-ranges.ts';

test('numbers are stored as ranges, in their order', () => {
  const numbers = [1, 2, 3, 7, 2, 3];
  expect(toRanges(numbers)).toBe('1-3,7,2-3');
  expect(fromRanges(toRanges(numbers))).toEqual(numbers);
});

test('the union and the difference of ranges have the numbers of those of sets', () => {
  const numbers = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(numbers, numbers, (some, others) => {
      const [one, other] = [some, others].map((each) => union(rangesOf(toRanges(each))));
      const sorted = (set: Set<number>) => [...set].sort((a, b) => a - b);
      expect(numbersIn(one ?? [])).toEqual(sorted(new Set(some)));
      const left = difference(one ?? [], other ?? []);
      expect(numbersIn(left)).toEqual(sorted(new Set(some.filter((each) => !others.includes(each)))));
    }),
  );
});
