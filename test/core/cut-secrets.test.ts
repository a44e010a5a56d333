import { describe, expect, test } from 'vitest';
import { publicFailure } from '../../src/core/failure.ts';
import { LineSplitter } from '../../src/core/lines.ts';
import { maskSecrets, secretMask } from '../../src/core/mask-secrets.ts';
import { truncateText } from '../../src/core/text.ts';
import { fromWireError, toWireError } from '../../src/hosts/protocol/errors.ts';

const KEY = 'Zm9vYmFyYmF6cXV4MTIz';
/** Of a secret, fewer characters than these may remain. */
const READABLE = 4;

/** The text, truncated after each number of its characters. */
function cutAnywhere(text: string): string[] {
  const note = truncateText('', 100, 1000);
  return Array.from({ length: text.length }, (_, length) =>
    truncateText(text.slice(0, length), length + note.length + 2, 1000),
  );
}

/** The longest part of the secret, from its beginning, that the text shows. */
function shown(text: string, secret: string): number {
  let length = 0;
  while (length < secret.length && text.includes(secret.slice(0, length + 1))) length += 1;
  return length;
}

describe('wherever a text is cut, nothing readable remains of', () => {
  test.each([
    [`the key sk-${KEY} is wrong`, KEY],
    [`the key AKIA${KEY} is wrong`, KEY],
    [`sent bearer ${KEY}`, KEY],
    [`Authorization: Bearer ${KEY}, next`, KEY],
    [`{"authorization":"${KEY}"}`, KEY],
    [`{ 'x-api-key': '${KEY}' }`, KEY],
    [`OPENAI_API_KEY=${KEY} node x`, KEY],
    ['token eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl end', 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl'],
    ['postgres://me:hunter2@db/x', 'me:hunter2'],
    ['postgres://me:p/a?ss@db/x', 'me:p/a?ss'],
    ['see https://hunter2@host/x', 'hunter2'],
    ['see https://me:pa/ss@host/x', 'me:pa/ss'],
  ])('the secret in %s', (text, secret) => {
    for (const cut of cutAnywhere(text)) expect(shown(maskSecrets(cut), secret), cut).toBeLessThan(READABLE);
  });

  const value = 'C0rrect "horse" \\ battery staple';
  test.each([
    ['as it is', `is ${value} today`, value],
    ['in JSON', JSON.stringify({ value }), JSON.stringify(value).slice(1)],
    ['in a text in JSON', JSON.stringify({ cut: JSON.stringify({ value }) }), 'C0rrect'],
  ])('a known value, %s', (_form, text, secret) => {
    const mask = secretMask([value, 'other secret']);
    for (const cut of cutAnywhere(text)) expect(shown(mask(cut), secret), cut).toBeLessThan(READABLE);
  });
});

test('text that is not a secret remains before a cut', () => {
  const mask = secretMask(['hunter2hunter2']);
  for (const text of ['x'.repeat(50), 'the bearer', 'see https://example.com/a/page', 'file:///a/b/c'])
    expect(mask(truncateText(text, 200, 1000))).toBe(`${text}… (cut, 1,000 characters in all)`);
});

test('a text that is cut twice reports its full length', () => {
  const once = truncateText('x'.repeat(5000), 1000);
  const twice = truncateText(once, 500);

  expect(twice).toMatch(/^x+… \(cut, 5,000 characters in all\)$/);
  expect(Buffer.byteLength(twice)).toBe(500);
});

test('an error of a host shows no password that its limit separates from its URL', () => {
  const url = 'postgres://me:hunter2@db';
  for (let length = 16_200; length < 16_384; length += 1) {
    const error = new Error(`${'x '.repeat(length / 2)}${url} ${'y'.repeat(1000)}`);
    expect(publicFailure(fromWireError(toWireError(error))).message).not.toMatch(/me:hun/);
  }
});

test('only the beginning of an overlong line is passed on, with its length', () => {
  const lines: [string, number][] = [];
  const splitter = new LineSplitter({ max_length: 5, onLine: (...line) => lines.push(line) });
  for (const chunk of ['ab', 'c\n1234', '56789', Buffer.from('ü\nnext\nla'), 'st']) splitter.write(chunk);
  splitter.end();

  expect(lines).toEqual([
    ['abc', 3],
    ['12345', 10],
    ['next', 4],
    ['last', 4],
  ]);
});

test.each(['… (cut, ', 'sk-… (cut, ', 'eyJa.', 'hunt… (cut, ', 'a://… (cut, ', 'not a secret… (cut, '])(
  'a long text of cut "%s" is masked in linear time, like every other',
  (piece) => {
    const long = Array.from({ length: 400 }, (_, index) => `${index} ${'of a long secret '.repeat(100)}`);
    const mask = secretMask([
      ...Array.from({ length: 100 }, (_, index) => `hunter2hunter2${index}`),
      ...long,
    ]);
    const text = piece.repeat(1_000_000 / piece.length);
    const masked = mask(text);
    expect(mask(masked)).toBe(masked);
  },
);
