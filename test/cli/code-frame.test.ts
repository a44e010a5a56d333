import { expect, test } from 'vitest';
import { withCodeFrame } from '../../src/cli/code-frame.ts';
import { firstUserFrame, frameOf } from '../../src/core/stack-frames.ts';
import { project } from '../support/project.ts';

test.each([
  ['    at work (/a/b c/x.ts:6:9)', '/a/b c/x.ts', 6, 9],
  ['    at /a/(b)/x.ts:6:9', '/a/(b)/x.ts', 6, 9],
  ['    at async work (file:///a/x%20y.mjs:12:3)', '/a/x y.mjs', 12, 3],
  ['    at async /a/x.ts:1:1', '/a/x.ts', 1, 1],
  ['    at Object.<anonymous> [as run] (/a/x.ts:1:22)', '/a/x.ts', 1, 22],
])('%s is recognized as a source location', (line, file, row, column) => {
  expect(frameOf(line)).toMatchObject({ file, line: row, column });
});

test.each([
  'Error: at 12:30:45',
  '/etc/hostname:1:1',
  'work (/etc/hostname:1:1)',
  '    at new Promise (<anonymous>)',
  '    at node:events:1:2',
  '    at f (file://***@host/x:1:2)',
  '    at f (https://example.com/x.js:1:2)',
  '    at f (/a/x.ts:0:1)',
  '',
])('%j is not taken for a source location', (line) => {
  expect(frameOf(line)).toBeUndefined();
});

const stackIn = (file: string, line: number) =>
  [
    'Error: no luck',
    '    at helper (/p/node_modules/lib/index.js:1:1)',
    `    at work (file://${file}:${line}:9)`,
    '    at node:internal/process:5:6',
    '    at run (/p/node_modules/lib/run.js:2:2)',
  ].join('\n');

test('a stack shows the code of its first own frame, and folds the others', async () => {
  await using folder = await project({ 'src/x.ts': 'one\ntwo\n\tthree = (luck)\nfour\nfive\nsix\n' });

  expect(withCodeFrame(stackIn(folder.path('src/x.ts'), 3), 'no luck', folder.root).split('\n')).toEqual([
    'Error: no luck',
    '    … 1 frame of packages',
    '    at work (src/x.ts:3:9)',
    '    … 2 frames of packages',
    '',
    '  1 | one',
    '  2 | two',
    '> 3 | \tthree = (luck)',
    '    | \t       ^',
    '  4 | four',
    '  5 | five',
  ]);
});

test('a frame whose file or line no longer exists is printed without code', async () => {
  await using folder = await project({ 'x.ts': 'one\n' });
  for (const [file, line] of [
    [folder.path('x.ts'), 9],
    [folder.path('gone.ts'), 1],
  ] as const)
    expect(withCodeFrame(stackIn(file, line), 'no luck', folder.root)).toMatch(
      /\.ts:\d:9\)\n {4}… 2 frames of packages$/,
    );
});

test('text of the error message is never taken for a frame', async () => {
  await using folder = await project({ 'x.ts': 'one\n', 'secret.txt': 'a secret\n' });
  const message = `oh\n    at f (${folder.path('secret.txt')}:1:1)\n${folder.path('secret.txt')}:1:1`;
  const stack = `Error: ${message}\n    at work (${folder.path('x.ts')}:1:1)`;

  const shown = withCodeFrame(stack, message, folder.root);
  expect(shown).toContain('> 1 | one');
  expect(shown).not.toContain('a secret');
  expect(withCodeFrame(`Error: ${message}`, message, folder.root)).toBe(`Error: ${message}`);
});

test('a stack without frames of the project is printed unchanged', () => {
  const stack = 'Error: x\n    at f (/p/node_modules/lib/index.js:1:1)';
  expect(withCodeFrame(stack, 'x', '/p')).toBe(stack);
  expect(firstUserFrame(stack)).toBeUndefined();
});
