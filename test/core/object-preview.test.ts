import { expect, test } from 'vitest';
import { objectPreview } from '../../src/core/object-preview.ts';

const sizeOf = (value: object) => Buffer.byteLength(JSON.stringify(value));

test('a preview is small for many fields, long names and characters of several bytes', () => {
  for (const text of ['x', '"', 'é', '😀', '\u0001']) {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`${n}`, text.repeat(500)]));
    const names = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [text.repeat(n * n), n]));
    for (const value of [fields, names, { [text.repeat(500_000)]: 1, short: 2 }])
      expect(sizeOf(objectPreview(value))).toBeLessThan(3500);
  }
});

test('a preview omits a field that does not fit and keeps later ones that do', () => {
  expect(objectPreview({ ['n'.repeat(5000)]: 1, short: 2 })).toEqual({
    fields: { short: 2 },
    cut: [],
    omitted: 1,
  });
});

test('a preview does not cut a text within a character', () => {
  const { fields } = objectPreview({ text: `${'x'.repeat(199)}😀😀` });
  expect(fields).toEqual({ text: 'x'.repeat(199) });
});
