import { expect, test } from 'vitest';
import { redact, redactCredentials } from '../../src/core/redact.ts';

test.each([
  ['at postgres://joe:hunter2@db/x', 'at postgres://***@db/x'],
  ['postgres://me:p/w@rd@db:5432/agents?password=x&a=1', 'postgres://***@db:5432/agents?password=***&a=1'],
  ['mongodb+srv://a:b@c.d/e,redis://:pw@h:6379', 'mongodb+srv://***@c.d/e,redis://***@h:6379'],
  ['https://ghp_token@github.com/a/b', 'https://***@github.com/a/b'],
  ['https://user:p/w@host/a', 'https://***@host/a'],
  ['{"url":"https://u:p@h/x","mail":"a@b.c"}', '{"url":"https://***@h/x","mail":"a@b.c"}'],
  ['https://api.example.com/v1?api_key=sk-123 failed', 'https://api.example.com/v1?api_key=*** failed'],
])('credentials are removed from %s', (text, told) => {
  expect(redactCredentials(text)).toBe(told);
});

test.each([
  ['no /srv/app/agents/secret.ts', 'no secret.ts'],
  ["open '/Users/John Smith/app/data.json'", "open 'data.json'"],
  ['at run (file:///srv/app/src/x.ts:1:2)', 'at run (x.ts:1:2)'],
  ['cwd=/home/jörg/app/src', 'cwd=src'],
  ['C:\\Users\\me\\app\\x.ts:3', 'x.ts:3'],
  ["'C:\\Program Files\\app\\x.ts'", "'x.ts'"],
  ['/srv/app/(group)/page.ts', 'app(group)/page.ts'],
])('paths of the machine are removed from %s', (text, told) => {
  expect(redact(text)).toBe(told);
});

test.each([
  'https://registry.npmjs.org/@scope/name',
  'http://localhost:8080/@scope/x, http://[::1]:80/a/b/c',
  'POST /v1/messages failed with 429 Too Many Requests',
  'x is not a function; did you mean a/b/c?',
  'mail somebody@example.com, see https://docs.example.com/a/b/c.html',
])('%s is unchanged', (text) => {
  expect(redact(text)).toBe(text);
});

/** A quadratic expression takes many minutes for 1 MB of these, longer than a test may; `npm run bench -- masking` measures. */
test.each([
  'x',
  '/a',
  'a://',
  '://',
  'https://u:',
  '://u:1/',
  '"/',
  "'/a",
  'C:/',
  'file://',
  ' /a/a/a',
  '?password=',
  '@',
])('1 MB of %s is redacted in linear time', (piece) => {
  const redacted = redact(piece.repeat(2 ** 20 / piece.length));
  expect(redact(redacted)).toBe(redacted);
});

test('a URL with a host of 1 MB is redacted in linear time', () => {
  const url = `a://${'b'.repeat(2 ** 20)}`;
  expect(redact(url)).toBe(url);
});
