import { expect, test } from 'vitest';
import { railsOf } from '../../studio/src/screens/thread/lanes.ts';
import { diffOf } from '../../studio/src/ui/diff.ts';

/** `d<b` is a checkpoint `d` after `b`. */
function rails(history: string, isComplete = true): string[] {
  const nodes = history.split(' ').map((node) => {
    const [checkpoint_id = '', parent] = node.split('<');
    return { checkpoint_id, parent_checkpoint_id: parent ?? null };
  });
  return railsOf(nodes, isComplete).map(
    ({ lane, passing, from, hasParent }) => `${lane}|${passing}|${from}|${hasParent ? 'on' : 'end'}`,
  );
}

test('in the history, the newest branch is drawn first, and others join it at their common checkpoint', () => {
  expect(rails('c<b b<a a')).toEqual(['0|||on', '0||0|on', '0||0|end']);
  expect(rails('e<d d<b c<b b<a a')).toEqual(['0|||on', '0||0|on', '1|0||on', '0||0,1|on', '0||0|end']);
  // A lane that has joined is free for the next branch.
  expect(rails('f<c e<c c<a d<a a')).toEqual(['0|||on', '1|0||on', '0||0,1|on', '1|0||on', '0||0,1|end']);
});

test('a branch of the history whose start was pruned ends, unless more can be loaded', () => {
  expect(rails('c<b')).toEqual(['0|||end']);
  expect(rails('c<b', false)).toEqual(['0|||on']);
});

const shown = (before: unknown, after: unknown) =>
  diffOf(before, after).map(({ kind, text }) => `${kind} ${text}`);

test('a diff shows an added list item as its own lines, and folds lines far from a change', () => {
  const items = [{ a: 1 }, { a: 2 }, { a: 3 }];
  const [first, second] = items;
  expect(shown([first, second], items)).toEqual([
    'fold 3 lines',
    'same {',
    'same   "a": 2',
    'same }',
    'add {',
    'add   "a": 3',
    'add }',
  ]);
  expect(shown([first, second], [first])).toEqual([
    'same {',
    'same   "a": 1',
    'same }',
    'delete {',
    'delete   "a": 2',
    'delete }',
  ]);
});

test('a diff compares added, removed and changed values line by line', () => {
  expect(shown(undefined, 7)).toEqual(['add 7']);
  expect(shown({ a: 1 }, undefined)).toEqual(['delete {', 'delete   "a": 1', 'delete }']);
  expect(shown({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual([
    'same {',
    'same   "a": 1,',
    'delete   "b": 2',
    'add   "b": 3',
    'same }',
  ]);
  expect(shown([1, 2], [1, 2])).toEqual(['fold 2 lines']);
});

test('a diff of a large change shows both values instead of comparing them', () => {
  const numbers = (from: number) => Array.from({ length: 5000 }, (_, i) => from + i);
  // Half of the lines are in both.
  const lines = diffOf(numbers(0), numbers(2500));
  expect([lines.length, lines[0]?.kind, lines.at(-1)?.kind]).toEqual([10_000, 'delete', 'add']);
});
