import { describe, expect, test } from 'vitest';
import { expressionsOfSources, hardTextsFor, slowOf } from './support/expressions.ts';
import { examined, MADE, nameOf, SPARED, UNDECIDED } from './support/listed-expressions.ts';

/** Code units; a quadratic expression takes half a second for them, a linear one well below a millisecond. */
const LENGTH = 12 * 1024;
const LIMIT_MS = 100;

const { literals, made } = await expressionsOfSources();

// A procedure decides whether they are linear: `npm run release:check`.
describe('regular expressions of the server', () => {
  test('in the sources are all listed', () => {
    expect(literals.length).toBeGreaterThan(100);
    expect(made.map(nameOf).toSorted()).toEqual(Object.keys(MADE).toSorted());
    const names = literals.map(nameOf);
    const listed = [...Object.keys(SPARED), ...UNDECIDED];
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('are fast on adversarial texts, even when all matches are searched', { timeout: 600_000 }, () => {
    const slow = examined(literals).flatMap((each) => {
      const text = slowOf(each, hardTextsFor(each, LENGTH), LIMIT_MS);
      return text === undefined ? [] : [`${nameOf(each)}: ${JSON.stringify(text.slice(0, 20))}…`];
    });
    expect(slow).toEqual([]);
  });
});
