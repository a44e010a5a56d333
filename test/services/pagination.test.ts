import { expect, test } from 'vitest';
import { InvalidInput } from '../../src/core/errors.ts';
import { cursorOf, isTimestamp, pageOf, positionOf } from '../../src/services/pagination.ts';
import { failure } from '../support/naming.ts';

test('a page with more rows has the next offset, and one more than its end as the total', () => {
  expect(pageOf(['a', 'b', 'c'], 2, 10)).toEqual({ items: ['a', 'b'], next: 12, total: 13 });
});

test('the last page has no next offset, and its end as the total', () => {
  expect(pageOf(['a', 'b'], 2, 10)).toEqual({ items: ['a', 'b'], next: undefined, total: 12 });
});

test('a page after the last row is empty and has its offset as the total', () => {
  expect(pageOf([], 2, 50)).toEqual({ items: [], next: undefined, total: 50 });
});

const isAnyPosition = ([at]: readonly string[]) => isTimestamp(at);

test('a cursor decodes to its position', () => {
  const position = ['2026-02-28T23:59:59.999Z', 'an id'];
  expect(positionOf('runs', cursorOf('runs', position), isAnyPosition)).toEqual(position);
});

test.each([
  ['of another list', cursorOf('threads', ['2026-02-28T23:59:59.999Z'])],
  ['with a time in the year 0', cursorOf('runs', ['0000-01-01T00:00:00.000Z'])],
  ['with a day that no month has', cursorOf('runs', ['2026-02-30T00:00:00.000Z'])],
  ['with an hour that no day has', cursorOf('runs', ['2026-02-28T24:00:00.000Z'])],
  ['with text that no database holds', cursorOf('runs', ['2026-02-28T00:00:00.000Z', 'a\0b'])],
])('a list cursor %s is refused', (_what, cursor) => {
  expect(() => positionOf('runs', cursor, isAnyPosition)).toThrow(
    failure(InvalidInput, 'cursor', 'X-Pagination-Next'),
  );
});
