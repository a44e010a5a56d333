import { expect, test } from 'vitest';
import { growingChunks } from '../../studio/src/screens/chat/lines.tsx';
import { growingPieces, type Piece } from '../../studio/src/screens/chat/markdown-pieces.ts';
import { cellsOf, firstCells } from '../../studio/src/screens/chat/table-cells.ts';

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');
/** Long enough for a piece of its own. */
const PARAGRAPH = `${words(300)}\n\n`;

const piecesOf = (text: string) => growingPieces()(text);
const textOf = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('');

/** Where pieces begin. */
const beginnings = (text: string) => piecesOf(text).map((piece) => piece.text.slice(0, 8).trim());

test('a short Markdown text is one chunk, a long one as many as it has long paragraphs', () => {
  expect(piecesOf('One\n\ntwo')).toEqual([{ kind: 'text', text: 'One\n\ntwo', goesOn: false }]);
  const text = `${PARAGRAPH}Second\n\n${PARAGRAPH}# Third`;
  expect(beginnings(text)).toEqual(['word0 wo', 'Second', '# Third']);
  expect(textOf(piecesOf(text))).toBe(text);
});

test('a Markdown chunk does not end inside list items, tables, quotes or code within lists', () => {
  expect(beginnings(`- ${PARAGRAPH}  of one\n\n  also`)).toEqual(['- word0']);
  expect(beginnings(`${PARAGRAPH}> one\n\n| a |`)).toEqual(['word0 wo']);
  expect(beginnings(`- one\n\n  ~~~\n  ${PARAGRAPH}Within\n\n- the code`)).toEqual(['- one']);
});

test('a Markdown code block is a chunk without its fences, even while it is streamed', () => {
  const code = `${PARAGRAPH}- no item\n\n${PARAGRAPH}`;
  const kinds = (text: string) => piecesOf(text).map(({ kind, text }) => [kind, text]);
  expect(kinds(`Before\n\`\`\`js\n${code}\`\`\`\n\nAfter`)).toEqual([
    ['text', 'Before\n'],
    ['code', code],
    ['text', '\nAfter'],
  ]);
  expect(kinds(`~~~~\n${code}\`\`\`\n~~~\n~~~~ js\n`)).toEqual([['code', `${code}\`\`\`\n~~~\n~~~~ js\n`]]);
  expect(kinds(`~~~\n${code}~~~`)).toEqual([['code', code]]);
  const sentence = `\`\`\`This\`\`\` is code. ${PARAGRAPH}`;
  expect(kinds(sentence)).toEqual([['text', sentence]]);
});

test('a long Markdown list continues in the next chunk with its number', () => {
  const pieces = (text: string) => piecesOf(text).map((piece) => [piece.text.slice(0, 6), piece.goesOn]);
  expect(pieces(`- ${words(300)}\n- two\n  - of two\n`)).toEqual([
    ['- word', false],
    ['- two\n', true],
  ]);
  expect(pieces(`1. ${words(300)}\n2. two`)).toEqual([
    ['1. wor', false],
    ['2. two', true],
  ]);
  expect(pieces(`${words(300)}\n- one`)).toEqual([
    ['word0 ', false],
    ['- one', false],
  ]);
});

const HEAD = '| a | b |\n|---|:-:|\n';
const rows = (count: number) => Array.from({ length: count }, (_, n) => `| ${n} | ${words(9)} |\n`).join('');

test('a long Markdown table continues in the next chunk, which repeats its head', () => {
  const pieces = piecesOf(`Before\n\n${HEAD}${rows(100)}\nAfter\n\n${rows(1)}`);
  const tables = pieces.slice(1, -1);
  expect(pieces.map(({ kind }) => kind)).toEqual(['text', ...tables.map(() => 'table'), 'text']);
  expect(tables.length).toBeGreaterThan(2);
  expect(tables.map(({ goesOn }) => goesOn)).toEqual([false, ...tables.slice(1).map(() => true)]);
  expect(tables.every(({ text }) => text.startsWith(HEAD))).toBe(true);
  const ofTables = tables.map(({ text }) => text.slice(HEAD.length)).join('');
  expect(ofTables).toBe(`${rows(100)}\n`);
  expect(pieces.at(-1)?.text).toBe(`After\n\n${rows(1)}`);
});

test('a Markdown table ends where another block starts, and includes a row without bars', () => {
  const kinds = (end: string) => piecesOf(`${HEAD}${rows(50)}${end}`).map(({ kind, text }) => [kind, text]);
  expect(kinds('').at(-1)?.[0]).toBe('table');
  expect(kinds('> quoted').at(-1)).toEqual(['text', '> quoted']);
  expect(kinds('```\ncode\n```').at(-1)).toEqual(['code', 'code\n']);
  expect(kinds('a row').at(-1)).toEqual(['table', expect.stringMatching(/\na row$/)]);
});

test.each([
  ['of another number of cells', '| a | b |\n|---|\n'],
  ['with a bar that is text', '| a \\| b |\n|---|---|\n'],
  ['of no cells', '| a | b |\nword\n'],
  ['in a paragraph', 'word\n| a | b |\n|---|---|\n'],
  ['in a list', '- word\n\n  | a | b |\n  |---|---|\n'],
])('lines with bars below a line %s are no Markdown table', (_name, head) => {
  expect(piecesOf(`${head}${rows(100)}`).map(({ kind }) => kind)).toEqual(['text']);
});

test('a number that does not continue a Markdown list, or is in plain text, starts no chunk', () => {
  expect(beginnings(`1. ${words(300)}\n1. two`)).toHaveLength(1);
  expect(beginnings(`${words(300)} in\n1984. It was`)).toHaveLength(1);
});

test('a Markdown text with definitions of links or footnotes is one chunk', () => {
  expect(beginnings(`${PARAGRAPH}See [it] and that.[^1]\n\n[it]: https://example.com`)).toHaveLength(1);
  expect(beginnings(`${PARAGRAPH}See that.[^1]\n\n[^1]: A note`)).toHaveLength(1);
  expect(beginnings(`${PARAGRAPH}\`\`\`\n[it]: 1\n\`\`\``)).toHaveLength(2);
});

test('a Markdown paragraph in one very long line is split between words, and not without spaces', () => {
  const pieces = piecesOf(words(10_000));
  expect(textOf(pieces)).toBe(words(10_000));
  expect(pieces.length).toBeGreaterThan(9);
  expect(pieces.every(({ text }) => text.length <= 8_001 && /^word\d/.test(text))).toBe(true);
  expect(piecesOf('x'.repeat(20_000))).toHaveLength(1);
});

test('in a growing Markdown text only the last chunk changes, and the result equals that of the whole text', () => {
  const list = Array.from({ length: 400 }, (_, n) => `- item ${n} of the list\n`).join('');
  const table = `${HEAD}${rows(100)}`;
  const text = `${PARAGRAPH}${list}\n\`\`\`\n${PARAGRAPH}\`\`\`\n\n${table}\n${words(5_000)}`;
  const growing = growingPieces();
  let before: readonly Piece[] = [];
  for (let end = 2_000; end < text.length; end += 397) {
    const now = growing(text.slice(0, end));
    expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(now).toEqual(piecesOf(text.slice(0, end)));
    before = now;
  }
  expect(growing('Another text')).toEqual(piecesOf('Another text'));
});

test('growing lines are split without losing an empty line, and only the last chunk changes', () => {
  const text = Array.from({ length: 3_000 }, (_, n) => (n % 3 === 0 ? '' : `line ${n}`)).join('\n');
  const growing = growingChunks();
  let before: readonly string[] = [];
  for (let end = 0; end < text.length; end += 397) {
    const now = growing(text.slice(0, end));
    expect(now.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(now.join('\n')).toBe(text.slice(0, end));
    expect(now.slice(0, -1).some((chunk) => chunk.endsWith('\n'))).toBe(false);
    before = now;
  }
  expect(before.length).toBeGreaterThan(9);
});

test.each([
  ['| a | b | c |', 3, '| a | b |'],
  ['a | b | c', 3, 'a | b |'],
  ['|-|:-:|-|-|', 4, '|-|:-:|'],
  ['| a \\| b \\\\| c | d', 3, '| a \\| b \\\\| c |'],
  ['| a | b |', 2, '| a | b |'],
  ['| a |', 1, '| a |'],
])('the Markdown row %s has %i cells, and its first two are %s', (row, cells, first) => {
  expect(cellsOf(row)).toBe(cells);
  expect(firstCells(`${row}\n${row}`, 2)).toBe(`${first}\n${first}`);
});
