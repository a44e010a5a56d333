import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';

test.for([
  ['a\0b', '"a\uFFFDb"'],
  [{ 'k\0': '\0' }, '{"k\uFFFD":"\uFFFD"}'],
  ['\\u0000', '"\\\\u0000"'],
  ['\\\0', '"\\\\\uFFFD"'],
  [undefined, 'null'],
] as const)('%j becomes JSON without NUL', ([value, text]) => {
  expect(toJson(value)).toBe(text);
});

/** Looked at from each of them anew, they would take minutes. */
test('JSON with a long run of backslashes is scanned in linear time', () => {
  const text = '\\'.repeat(500_000);
  expect(toJson([text, '\0'])).toBe(`["${text}${text}","\uFFFD"]`);
  // Text about an escape, as any client can send it.
  expect(toJson(`${text} \\ud800`)).toBe(`"${text}${text} \\\\ud800"`);
});
