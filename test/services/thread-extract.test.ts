import { expect, test } from 'vitest';
import type { Thread } from '../../src/schemas/threads.ts';
import { extract, parsePaths } from '../../src/services/threads/thread-extract.ts';

const thread: Thread = {
  thread_id: '00000000-0000-7000-8000-000000000001',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  metadata: { owner: 'ada', 'odd-key': { '1': 'one' } },
  status: 'interrupted',
  config: { configurable: {} },
  values: { log: ['a', 'b', 'c'], a: { b: [{ k: 0 }, { k: 1 }] }, nothing: null, grid: [[1, 2], [3]] },
  interrupts: { task: [{ id: 'i', value: { question: 'ok?' } }] },
};

function at(path: string): unknown {
  return extract(thread, parsePaths({ it: path }))['it'];
}

test.each([
  ['values.log[0]', 'a'],
  ['values.log[-1]', 'c'],
  ['values.a.b[0].k', 0],
  ['values.a.b[-1].k', 1],
  ['values.grid[0][1]', 2],
  ['values.log', ['a', 'b', 'c']],
  ['metadata.owner', 'ada'],
  ['metadata.odd-key.1', 'one'],
  ['interrupts.task[0].value.question', 'ok?'],
  ['config', { configurable: {} }],
])('the extract path %s returns the value at it', (path, expected) => {
  expect(at(path)).toEqual(expected);
});

test.each([
  'values.missing',
  'values.nothing.deeper',
  'values.log[3]',
  'values.log[-4]',
  'values.log.0',
  'values.log.length',
  'values.a[0]',
  'values.constructor.name',
])('the extract path %s without a value returns null', (path) => {
  expect(at(path)).toBeNull();
});

test.each([
  'values.log[*]',
  'values.log[0:2]',
  'values.log.*',
  'values.log[',
  'values..log',
  'values.log[]',
  'values.',
  'values.a["b"]',
])('the unsupported extract path %s returns null', (path) => {
  expect(at(path)).toBeNull();
});

test('each alias of extract has its own value', () => {
  const paths = parsePaths({ first: 'values.log[0]', owner: 'metadata.owner' });
  expect(extract(thread, paths)).toEqual({
    first: 'a',
    owner: 'ada',
  });
});
