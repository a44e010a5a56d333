import { expect, test } from 'vitest';
import { piecesOf } from '../../studio/src/screens/chat/markdown-pieces.ts';

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');
/** Long enough for a piece of its own. */
const PARAGRAPH = `${words(300)}\n\n`;

/** Where pieces begin. */
function beginnings(text: string): string[] {
  const pieces = piecesOf(text);
  expect(pieces.join('')).toBe(text);
  return pieces.map((piece) => piece.slice(0, 8).trim());
}

test('a short text is one piece, a long one as many as it has long paragraphs', () => {
  expect(piecesOf('')).toEqual(['']);
  expect(piecesOf('One\n\ntwo')).toEqual(['One\n\ntwo']);
  expect(beginnings(`${PARAGRAPH}Second\n\n${PARAGRAPH}# Third`)).toEqual(['word0 wo', 'Second', '# Third']);
});

test('lists, tables, quotes and code stay whole', () => {
  expect(beginnings(`${PARAGRAPH}- one\n\n- two\n\n  of two\n\n1. three`)).toEqual(['word0 wo']);
  expect(beginnings(`${PARAGRAPH}> one\n\n| a |`)).toEqual(['word0 wo']);
  const code = `\`\`\`js\n${PARAGRAPH}${PARAGRAPH}\`\`\`\n\n`;
  expect(beginnings(`${code}After`)).toEqual(['```js\nwo', 'After']);
  // Tildes do not end what backquotes began, and what is not closed yet goes on.
  expect(beginnings(`\`\`\`\n~~~\n\n${PARAGRAPH}After`)).toEqual(['```\n~~~']);
});

test('a text with definitions of links or notes is one piece', () => {
  expect(beginnings(`${PARAGRAPH}See [it] and that.[^1]\n\n[it]: https://example.com`)).toHaveLength(1);
  expect(beginnings(`${PARAGRAPH}See that.[^1]\n\n[^1]: A note`)).toHaveLength(1);
});

test('a paragraph in one endless line is cut between words, and without spaces it is not', () => {
  const pieces = piecesOf(words(10_000));
  expect(pieces.join('')).toBe(words(10_000));
  expect(pieces.length).toBeGreaterThan(9);
  expect(pieces.every((piece) => piece.length <= 8_001 && /^word\d/.test(piece))).toBe(true);
  expect(piecesOf('x'.repeat(20_000))).toHaveLength(1);
});

test('of a text that grows only the last piece changes', () => {
  const text = `${PARAGRAPH}${PARAGRAPH}${words(5_000)}`;
  let before: readonly string[] = [];
  for (let end = 0; end < text.length; end += 997) {
    const now = piecesOf(text.slice(0, end));
    const kept = before.slice(0, -1);
    expect(now.slice(0, kept.length)).toEqual(kept);
    before = now;
  }
});
