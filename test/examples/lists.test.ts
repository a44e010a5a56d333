import { afterAll, beforeAll, expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, inShell, NODE, type Outcome } from './blocks.ts';
import { type Started, started } from './started.ts';

const PAGE = 'docs/lists.md';

let server: Started;
let outcomes: Outcome[];

beforeAll(async () => {
  server = await started('npm start');
  outcomes = await inShell(callsOf(PAGE), server.url);
});

afterAll(() => server[Symbol.asyncDispose]());

function programsOf(language: string): string[] {
  return blocksOf(PAGE)
    .filter((block) => block.language === language)
    .map(({ text }) => text);
}

test('every call of the page succeeds', () => {
  expect(outcomes.map(({ complaints }) => complaints).filter(Boolean)).toEqual([]);
  expect(outcomes.flatMap(({ statuses }) => statuses).filter((status) => status >= 300)).toEqual([]);
});

test('runs are found by their metadata', () => {
  const [found] = outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes('/runs/search'));
  expect(found?.output).toMatch(/\[\{"run_id":"[^"]+".*"ticket":"T-1"/);
});

test('interrupts are counted, listed and answered by their id', () => {
  const [asked, answered] = outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes('/interrupts/'));
  expect(asked?.output).toMatch(/\n?2\[\{"interrupt_id":"[^"]+"[^\n]*ana@example\.com/);
  expect(answered?.output).toMatch(/in the outbox/);
});

test('the tree of a thread is read in pages', () => {
  const [tree] = outcomes.filter((_, index) => callsOf(PAGE)[index]?.includes('/tree'));
  expect(tree?.output).toMatch(/"step":\d+,"source":"loop","created_at".*"messages"/);
  expect(tree?.output.match(/"checkpoint_id"/g)?.length).toBe(4);
});

test('the JavaScript of the page works', async () => {
  const printed = [];
  for (const program of programsOf('js')) {
    printed.push(await inProgram(NODE, ['--input-type=module'], program, server.url));
  }
  expect(printed).toEqual([
    expect.stringMatching(/^\[ '[\w-]+' \]/),
    expect.stringMatching(/holiday/),
    expect.stringMatching(/^\d+ loop \[ 'messages'/m),
  ]);
});

test.runIf(python)('the Python of the page works', async () => {
  for (const program of programsOf('python')) {
    expect(await inProgram(python as string, ['-'], program, server.url)).toMatch(/\w/);
  }
});
