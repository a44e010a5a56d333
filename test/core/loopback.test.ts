import { expect, test } from 'vitest';
import { isLoopback } from '../../src/core/loopback.ts';

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:192.0.2.1', false],
  ['192.0.2.1', false],
  ['127.example', false],
  ['', false],
])('whether %s is an address of this machine: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
