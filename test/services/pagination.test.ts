import { expect, test } from 'vitest';
import { pageOf } from '../../src/services/pagination.ts';

test('a page with rows left names the next offset, and one row more as the total', () => {
  expect(pageOf(['a', 'b', 'c'], 2, 10)).toEqual({ items: ['a', 'b'], next: 12, total: 13 });
});

test('the last page names no next offset, and its own end as the total', () => {
  expect(pageOf(['a', 'b'], 2, 10)).toEqual({ items: ['a', 'b'], next: undefined, total: 12 });
});

test('a page beyond the rows is empty and has its offset as the total', () => {
  expect(pageOf([], 2, 50)).toEqual({ items: [], next: undefined, total: 50 });
});
