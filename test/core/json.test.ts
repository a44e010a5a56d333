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
