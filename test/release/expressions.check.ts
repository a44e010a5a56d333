import { expect, test } from 'vitest';
import {
  type Expression,
  expressionsOfSources,
  hardTextsFor,
  slowOf,
  sourceOf,
} from '../support/expressions.ts';
import { examined, nameOf, UNDECIDED } from '../support/listed-expressions.ts';

/** Code units; a quadratic expression takes seconds for them, a linear one well below a millisecond. */
const LENGTH = 24 * 1024;
const LIMIT_MS = 100;

const { literals } = await expressionsOfSources();

/** The decision of a procedure that knows every backtracking; undefined for look-behind and references to groups. */
async function isLinear(expression: Expression): Promise<boolean | undefined> {
  // The library's own JavaScript, on every machine the same.
  process.env['RECHECK_BACKEND'] = 'pure';
  const { check } = await import('recheck');
  const { source, flags } = sourceOf(expression);
  const { status } = await check(source, flags, { checker: 'automaton', timeout: 60_000 });
  return status === 'unknown' ? undefined : status === 'safe';
}

test('regular expressions of the server are linear, except those that see only trusted text', async () => {
  const decidable = examined(literals).filter((each) => !UNDECIDED.has(nameOf(each)));
  expect(decidable.length).toBeGreaterThan(100);
  const wrong: string[] = [];
  for (const each of decidable) if ((await isLinear(each)) === false) wrong.push(nameOf(each));
  expect(wrong).toEqual([]);
});

test('regular expressions of the server are fast on adversarial texts, even when all matches are searched', () => {
  const slow = examined(literals).flatMap((each) => {
    const text = slowOf(each, hardTextsFor(each, LENGTH), LIMIT_MS);
    return text === undefined ? [] : [`${nameOf(each)}: ${JSON.stringify(text.slice(0, 20))}…`];
  });
  expect(slow).toEqual([]);
});
