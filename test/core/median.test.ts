import { expect, test } from 'vitest';
import { median } from '../../src/core/median.ts';

test.each([
  { values: [], middle: null },
  { values: [4], middle: 4 },
  { values: [10, 2, 9], middle: 9 },
  { values: [10, 2, 9, 4], middle: 6.5 },
])('the median of $values is $middle', ({ values, middle }) => {
  expect(median(values)).toBe(middle);
});
