import { expect, test } from 'vitest';
import { nestedSteps } from '../../studio/src/screens/run/nested-steps.ts';

const shown = (...steps: { number: number; parent: number | null }[]) =>
  nestedSteps(steps).map(({ step, depth }) => `${'-'.repeat(depth)}${step.number}`);

test('each step of a timeline is below its parent, in the order of their numbers', () => {
  const [root, other] = [1, 3].map((number) => ({ number, parent: null }));
  expect(shown(other!, root!, { number: 4, parent: 1 }, { number: 2, parent: 1 })).toEqual([
    '1',
    '-2',
    '-4',
    '3',
  ]);
});

test('a step of a timeline is shown although its parent is not recorded', () => {
  expect(shown({ number: 2, parent: 1 }, { number: 3, parent: 2 })).toEqual(['2', '-3']);
});
