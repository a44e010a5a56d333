import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  causesOf,
  errorParts,
  errorStack,
  failureForLog,
  failureText,
  publicFailure,
  toError,
} from '../../src/core/failure.ts';
import { generatedCases } from '../support/generated-cases.ts';
import { ODD_THROWS } from '../support/odd-throws.ts';
import { madeFrom, recipes } from '../support/thrown-values.ts';

class QuotaError extends Error {}

test.each([
  [new QuotaError('used up'), { error: 'QuotaError', message: 'used up' }],
  [Object.assign(new Error('x'), { name: 'NamedError' }), { error: 'NamedError', message: 'x' }],
  [new TypeError('not a function'), { error: 'TypeError', message: 'not a function' }],
  [Object.assign(new Error(), { message: { code: 429 } }), { error: 'Error', message: '{"code":429}' }],
  [Object.assign(new Error(), { message: { message: 'inner' } }), { error: 'Error', message: 'inner' }],
  [
    { name: 'RemoteError', message: 'far away' },
    { error: 'RemoteError', message: 'far away' },
  ],
  [{ status: 500 }, { error: 'Error', message: '{"status":500}' }],
  ['thrown text', { error: 'Error', message: 'thrown text' }],
  [TypeError, { error: 'Error', message: '[function TypeError]' }],
  [undefined, { error: 'Error', message: 'undefined' }],
])('a thrown value is reported by class and text: %#', (thrown, told) => {
  expect(publicFailure(thrown)).toEqual(told);
});

test('an error that names itself as its cause is told once', () => {
  const error = new Error('round');
  error.cause = error;
  expect(causesOf(error)).toEqual([error]);
  expect(errorStack(error)).not.toContain('caused by');
  const [one, other] = [new Error('one'), new Error('other')];
  one.cause = other;
  other.cause = one;
  expect(causesOf(one)).toEqual([one, other]);
});

describe('for any thrown value', () => {
  test.each(Object.entries(ODD_THROWS))('%s', (_name, make) => {
    isTold(make());
  });

  test('including values that throw when they are read', () => {
    fc.assert(
      fc.property(recipes(), (recipe) => isTold(madeFrom(recipe))),
      generatedCases(300),
    );
  });
});

/** Each way in which a failure is told gives texts, and none throws. */
function isTold(value: unknown): void {
  const { error, message } = publicFailure(value);
  expect([typeof error, typeof message]).toEqual(['string', 'string']);
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(16 * 1024);
  expect(publicFailure(toError(value))).toEqual({ error, message });
  expect(toError(value) instanceof QuotaError).toBe(false);
  expect(typeof errorParts(value).message).toBe('string');
  expect(typeof errorStack(value)).toBe('string');
  expect(typeof failureForLog(value).stack).toBe('string');
}

describe('a long error text', () => {
  test('is truncated with a note', () => {
    const told = failureText('x'.repeat(1_234_567));
    expect(told).toMatch(/^x{16000,}… \(cut, 1,234,567 characters in all\)$/);
    expect(Buffer.byteLength(told)).toBe(16 * 1024);
    expect(failureText('x'.repeat(16 * 1024))).toHaveLength(16 * 1024);
  });

  test.each(['😀', 'a😀', 'ü', '漢😀'])('of %s is never cut inside of a character', (character) => {
    for (const before of ['', 'a', 'aa', 'aaa']) {
      const told = failureText(before + character.repeat(100_000));
      expect(told.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(told)).toBeLessThanOrEqual(16 * 1024);
      expect(told).toContain('characters in all');
    }
  });

  test('shows no password that the truncation separates from its URL', () => {
    for (const length of [16_300, 16_384, 65_500, 65_510, 65_530]) {
      const told = failureText(
        `${'/a/b/c '.repeat(length / 7)}postgres://user:hunter2@db ${'x'.repeat(70_000)}`,
      );
      expect(told).not.toContain('hunter');
    }
  });
});
