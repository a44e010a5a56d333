import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { logger } from '../../src/core/json-logger.ts';
import { maskSecrets, secretMask } from '../../src/core/mask-secrets.ts';

const KEY = 'Zm9vYmFyYmF6cXV4MTIz';

test.each([
  [`Authorization: Bearer ${KEY}`, 'Authorization: Bearer ***'],
  [`authorization: Basic ${KEY}==, next`, 'authorization: Basic ***, next'],
  [`{"Authorization":"${KEY}","a":1}`, '{"Authorization":"***","a":1}'],
  [`"{\\"authorization\\":\\"Bearer ${KEY}\\"}"`, '"{\\"authorization\\":\\"Bearer ***\\"}"'],
  [
    `{ authorization: 'Bearer ${KEY}', 'x-api-key': '${KEY}' }`,
    "{ authorization: 'Bearer ***', 'x-api-key': '***' }",
  ],
  [`sent bearer ${KEY}`, 'sent bearer ***'],
  [`X-Api-Key: ${KEY}`, 'X-Api-Key: ***'],
  [`OPENAI_API_KEY=${KEY} node x`, 'OPENAI_API_KEY=*** node x'],
  [`the key sk-proj-${KEY} is wrong`, 'the key sk-*** is wrong'],
  [`lsv2_pt_${KEY}_1`, 'lsv2_***'],
  [`ghp_${KEY}`, 'ghp_***'],
  [`token eyJhbGciOiJI.eyJzdWIiOiIx.c2ln end`, 'token *** end'],
  ['postgres://me:hunter2@db/x', 'postgres://***@db/x'],
])('a secret is masked in %s', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked);
  expect(maskSecrets(masked)).toBe(masked);
});

test.each([
  'task-manager-of-the-department',
  'a token: 12 of 30',
  'the bearer of bad news',
  'authorization failed',
  'risk-averse-strategies-for-learning',
  'run 019c7a4e-8d52-7c31-9d6e-5b2f8a1c4e70 ended',
])('%s has no secret', (text) => {
  expect(maskSecrets(text)).toBe(text);
});

test('known secrets are masked wherever they occur, the longest first; short words are not taken for secrets', () => {
  const mask = secretMask(['hunter2hunter2', 'hunter2hunter2-and-more', 'none', '']);

  expect(mask('xhunter2hunter2-and-more, hunter2hunter2. none')).toBe('x***, ***. none');
});

test('each line of a multi-line secret is masked, and quotes are masked in JSON and as Node prints them', () => {
  const key = '-----BEGIN KEY-----\nfirst-line-of-it\nsecond-line-of-it';
  const quoted = 'a"quoted"\\secret';
  const mask = secretMask([key, quoted]);

  expect(mask(`${key}|first-line-of-it|it: second-line-of-it`)).toBe('***|***|it: ***');
  expect(mask(JSON.stringify({ key, quoted }))).toBe('{"key":"***","quoted":"***"}');
  expect(mask(inspect({ quoted }))).toBe("{ quoted: '***' }");
});

test('every string of a log line is masked: message, fields, members, errors', () => {
  const lines: string[] = [];
  const masked = logger(
    'info',
    { write: (line) => lines.push(line) },
    { mask: secretMask(['hunter2hunter2']) },
  );
  const error = new Error('hunter2hunter2', { cause: new Error(`sk-${KEY}`) });

  masked.info('with hunter2hunter2', { a: 'hunter2hunter2', b: { c: ['hunter2hunter2'], error }, error });

  expect(lines.join('')).not.toMatch(/hunter2|Zm9v/);
});

/** A quadratic expression takes longer for these than a test may; `npm run bench -- masking` measures. */
test.each([
  'authorization: ',
  'authorization:a ',
  'bearer ',
  'api_key="',
  'sk-',
  'sk-a',
  'eyJ',
  'eyJaaaaaaaa.',
  '\\"',
  'a://',
  'x',
])('a long text of "%s" is masked in linear time', (piece) => {
  const mask = secretMask(['hunter2hunter2', piece.repeat(9)]);
  const text = piece.repeat(1_000_000 / piece.length);
  const masked = mask(text);
  expect(mask(masked)).toBe(masked);
});
