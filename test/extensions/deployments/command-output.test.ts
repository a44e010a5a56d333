import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test, vi } from 'vitest';
import { LineSplitter } from '../../../src/core/lines.ts';
import { runCommand } from '../../../src/extensions/deployments/build/process/command.ts';
import { CommandOutput } from '../../../src/extensions/deployments/build/process/output.ts';
import { MB } from '../../support/builds.ts';
import { naming } from '../../support/naming.ts';

/** The lines of the log when a command prints these chunks. */
async function logged(...chunks: readonly (string | Buffer)[]) {
  const lines: string[] = [];
  const output = new CommandOutput((line) => lines.push(line));
  const stream = new PassThrough();
  output.follow(stream);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  output.end();
  return { lines, tail: output.tail };
}

test.each([
  ['colors and cursor movements', '\u001b[1;31mred\u001b[0m\u001b[2K\u001b[1A', 'red'],
  ['the title of a window', 'a\u001b]0;title\u0007b', 'ab'],
  ['a link', '\u001b]8;;https://example.com\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['what writes to the clipboard', 'a\u001b]52;c;Y3VybA==\u0007b', 'ab'],
  ['C1 controls', 'a\u009b31mb\u0085', 'ab'],
  ['zero bytes, bells and backspaces', 'a\u0000b\u0007c\b', 'abc'],
  ['an escape character alone', 'a\u001b b', 'a b'],
])('the log of a build contains no %s', async (_, printed, expected) => {
  const { lines, tail } = await logged(`${printed}\n`);
  expect(lines).toEqual([expected]);
  expect(tail).toBe(`${expected}\n`);
});

test('invalid UTF-8 in the output of a build is replaced, and tabs are kept', async () => {
  const { lines } = await logged(Buffer.from([0x61, 0xff, 0xc3]), Buffer.from([0x28, 0x09, 0x62, 0x0a]));
  expect(lines).toEqual(['a\ufffd\ufffd(\tb']);
});

test('the log of a command that prints too much has its first and last lines', async () => {
  const chunks = Array.from({ length: 40 }, (_, at) => `${at} ${'x'.repeat(100)}\n`.repeat(1000));
  const { lines, tail } = await logged(...chunks, `${'y'.repeat(3000)}\n`, 'why it failed\n');
  expect(lines[0]).toMatch(/^0 x/);
  expect(lines.length).toBeLessThan(10_300);
  expect(lines).toContainEqual(naming('omitted', 'last lines'));
  expect(lines.slice(-2)).toEqual([expect.stringMatching(/^y+… \(cut, 3,000 /), 'why it failed']);
  expect(tail).toMatch(/why it failed\n$/);
});

test('errors of a build are logged while its other stream prints too much', async () => {
  const lines: string[] = [];
  const output = new CommandOutput((line) => lines.push(line));
  const [out, err] = [new PassThrough(), new PassThrough()];
  output.follow(out);
  output.follow(err);
  out.end('y\n'.repeat(100_000));
  await finished(out.resume());
  err.end('why it fails\n');
  await finished(err);
  expect(lines.at(-1)).toBe('why it fails');
});

test('an output line whose beginning was dropped is not logged, because it could be half a secret', async () => {
  const { lines } = await logged('y\n'.repeat(20_000), `secret-${'z'.repeat(70_000)}`, '\nlast\n');
  expect(lines.slice(-2)).toEqual(['The last lines:', 'last']);
});

test('a command that prints 50 MB has only its first lines parsed', async () => {
  const bytes = 50 * MB;
  const lines: string[] = [];
  const split = vi.spyOn(LineSplitter.prototype, 'write');
  const end = await runCommand({
    argv: ['/bin/sh', '-c', `yes | head -c ${bytes}; echo the end`],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
    limits: { memory_bytes: 4096 * MB, disk_bytes: 1024 * MB, folders: [] },
    signal: new AbortController().signal,
    onLine: (line) => lines.push(line),
  });
  expect(end).toMatchObject({ code: 0, stopped: undefined });
  expect(lines.at(-1)).toBe('the end');
  expect(lines.length).toBeLessThan(10_300);
  // To tell its 25 million lines apart takes more than ten seconds: the rest is only kept as bytes.
  const split_bytes = split.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0);
  split.mockRestore();
  expect(split_bytes).toBeLessThan(MB);
});
