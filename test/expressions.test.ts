import { expect, test } from 'vitest';
import { expressionsOfSources } from './support/expressions.ts';
import { MADE, nameOf, SPARED, UNDECIDED } from './support/listed-expressions.ts';

// Whether they are linear: `npm run release:check`.
test('regular expressions that are made at run time, or that see only trusted text, are all listed', async () => {
  const { literals, made } = await expressionsOfSources();
  expect(literals.length).toBeGreaterThan(100);
  expect(made.map(nameOf).toSorted()).toEqual(Object.keys(MADE).toSorted());
  const names = literals.map(nameOf);
  const listed = [...Object.keys(SPARED), ...UNDECIDED];
  expect(listed.filter((name) => !names.includes(name))).toEqual([]);
});
