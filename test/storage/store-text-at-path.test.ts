import { expect, test } from 'vitest';
import { searchText, textsAtPaths } from '../../src/storage/store/text-at-path.ts';

const VALUE = {
  title: 'Tea',
  author: { name: 'Ada', born: 1815, tags: ['x', 'y'] },
  chapters: [{ text: 'one' }, { text: '' }, { text: 'three', notes: null }],
  draft: false,
};

test.each([
  ['title', ['Tea']],
  ['author.name', ['Ada']],
  ['author.born', ['1815']],
  ['draft', ['false']],
  ['chapters[*].text', ['one', 'three']],
  ['chapters[0].text', ['one']],
  ['chapters[-1].text', ['three']],
  ['chapters[9].text', []],
  ['chapters[x].text', []],
  ['chapters.text', []],
  ['chapters[2].notes', []],
  ['author.tags', ['["x","y"]']],
  ['author.tags[*]', ['x', 'y']],
  ['author.*', ['Ada', '1815', '["x","y"]']],
  ['{title,author.name}', ['Tea', 'Ada']],
  ['chapters[*].{text,notes}', ['one', 'three']],
  ['$.title', ['Tea']],
  ['nothing.here', []],
  ['constructor.name', []],
  ['__proto__', []],
  ['[', []],
  ['{', []],
  ['..', [JSON.stringify(VALUE)]],
  ['$', [JSON.stringify(VALUE)]],
  ['', [JSON.stringify(VALUE)]],
])('store path %s finds %j', (path, texts) => {
  expect(textsAtPaths(VALUE, [path])).toEqual(texts);
});

test('the same text at two store paths is indexed once', () => {
  expect(textsAtPaths(VALUE, ['title', '{title}', 'author.name'])).toEqual(['Tea', 'Ada']);
});

test('a search by words sees the whole value, or the texts at the paths', () => {
  expect(searchText(VALUE, ['$'])).toBe('Tea\nAda\n1815\nx\ny\none\n\nthree');
  expect(searchText(VALUE, ['chapters[*].text', 'title'])).toBe('one\n\nthree\nTea');
});

/** Looked for one by one, the ways would be a billion. */
test('a store path with many ways to one value is evaluated in linear time', () => {
  const levels = 30;
  let value: Record<string, unknown> = { text: 'deep' };
  for (let level = 0; level < levels; level += 1) value = { a: value };
  const path = `${'{a,*}.'.repeat(levels)}text`;
  expect(textsAtPaths(value, [path])).toEqual(['deep']);
  expect(searchText(value, [path])).toBe('deep');
});
