import { expect, test } from 'vitest';
import { pickFields } from '../../src/core/pick-fields.ts';

test('a selection keeps only fields that the row has', () => {
  expect(pickFields({ a: 1, b: 2 }, ['b', 'c'])).toEqual({ b: 2 });
  expect(pickFields({ a: 1 }, undefined)).toEqual({ a: 1 });
});
