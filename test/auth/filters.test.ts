import { expect, test } from 'vitest';
import { parseFilter } from '../../src/auth/filters.ts';

test.each([
  [{ owner: 'ann' }, { all: [{ contains: { owner: 'ann' } }] }],
  [{ owner: { $eq: 'ann' } }, { all: [{ all: [{ contains: { owner: 'ann' } }] }] }],
  [{ members: { $contains: 'ann' } }, { all: [{ all: [{ contains: { members: ['ann'] } }] }] }],
  [{ members: { $contains: ['ann', 1] } }, { all: [{ all: [{ contains: { members: ['ann', 1] } }] }] }],
  [{ $or: [] }, { all: [{ any: [] }] }],
  [{ $and: [{ a: null }] }, { all: [{ all: [{ all: [{ contains: { a: null } }] }] }] }],
  [{}, { all: [] }],
])('the filter %j is accepted', (filter, understood) => {
  expect(parseFilter(filter)).toEqual(understood);
});

test.each([
  ['nobody in particular', { owner: undefined }, /'owner'/],
  ['an unknown operator', { owner: { $ne: 'ann' } }, /'\$ne'/],
  ['an operator in the wrong place', { $eq: 'ann' }, /'\$eq'/],
  ['an object', { owner: { $eq: { id: 1 } } }, /unsupported value/],
  ['a list where one value belongs', { owner: ['ann'] }, /unsupported value: a list/],
  ['no number', { owner: Number.NaN }, /unsupported value/],
  ['nothing at all', { owner: {} }, /no operator/],
  ['invalid branches', { $or: { owner: 'ann' } }, /no list/],
  ['an invalid branch', { $or: ['ann'] }, /not an object/],
  ['a text', 'ann', /not an object/],
])('a filter with %s is an error and matches no row', (_what, filter, message) => {
  expect(() => parseFilter(filter)).toThrow(message);
});
