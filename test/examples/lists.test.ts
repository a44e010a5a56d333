import { expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, NODE } from './blocks.ts';
import { useCallsOf } from './started.ts';

const PAGE = 'docs/lists.md';

const page = useCallsOf(PAGE);

function programsOf(language: string): string[] {
  return blocksOf(PAGE)
    .filter((block) => block.language === language)
    .map(({ text }) => text);
}

test('docs/lists.md: every call succeeds', () => {
  expect(page.outcomes.map(({ complaints }) => complaints).filter(Boolean)).toEqual([]);
  expect(page.outcomes.flatMap(({ statuses }) => statuses).filter((status) => status >= 300)).toEqual([]);
});

test('docs/lists.md: runs are found by their metadata', () => {
  const [found] = page.outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes('/runs/search'));
  expect(found?.output).toMatch(/\[\{"run_id":"[^"]+".*"ticket":"T-1"/);
});

test('docs/lists.md: interrupts are counted, listed and answered by their id', () => {
  const [asked, answered] = page.outcomes.filter((_, index) =>
    callsOf(PAGE)[index]?.includes('/interrupts/'),
  );
  expect(asked?.output).toMatch(/\n?2\[\{"interrupt_id":"[^"]+"[^\n]*ana@example\.com/);
  expect(answered?.output).toMatch(/in the outbox/);
});

test('docs/lists.md: the tree of a thread is read in pages', () => {
  const [tree] = page.outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes('/tree'));
  expect(tree?.output).toMatch(/"step":\d+,"source":"loop","created_at".*"messages"/);
  expect(tree?.output.match(/"checkpoint_id"/g)?.length).toBe(4);
});

test('docs/lists.md, JavaScript', async () => {
  const printed = [];
  for (const program of programsOf('js')) {
    printed.push(await inProgram(NODE, ['--input-type=module'], program, page.server.url));
  }
  expect(printed).toEqual([
    expect.stringMatching(/^\[ '[\w-]+' \]/),
    expect.stringMatching(/holiday/),
    expect.stringMatching(/^\d+ loop \[ 'messages'/m),
  ]);
});

test.runIf(python)('docs/lists.md, Python', async () => {
  for (const program of programsOf('python')) {
    expect(await inProgram(python as string, ['-'], program, page.server.url)).toMatch(/\w/);
  }
});
