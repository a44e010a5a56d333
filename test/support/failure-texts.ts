import { expect } from 'vitest';
import { FOLDER, LEFT, PASSWORD } from './leaky-error.ts';

export const MAX_ERROR_BYTES = 16 * 1024;

/** At most that many bytes of UTF-8, whole characters, and the length of all. */
export function expectCut(message: string, length: string): void {
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_ERROR_BYTES);
  expect(Buffer.byteLength(message)).toBeGreaterThan(MAX_ERROR_BYTES - 4);
  expect(message.isWellFormed()).toBe(true);
  expect(message).toMatch(/^Unable to read: /);
  expect(message.endsWith(`… (cut, ${length} characters in all)`)).toBe(true);
}

/** `said` tells of the failure, and neither the password nor the place. */
export function expectClean(said: unknown): void {
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  expect(text).toContain(LEFT);
  expectNoSecret(text);
}

export function expectNoSecret(text: string): void {
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain(FOLDER);
}
