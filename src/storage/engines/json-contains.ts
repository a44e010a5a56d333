import { isObject } from '../../core/json.ts';

/**
 * SQLite's stand-in for PostgreSQL's `jsonb @> jsonb`, as a function of two JSON texts. Rules as PostgreSQL has them:
 * objects in part, arrays as subsets in any order, and, only at the top, an array contains a plain value.
 */
export function jsonContains(): (column: unknown, wanted: unknown) => 0 | 1 {
  // One search asks every row for the same text.
  let lastText: unknown;
  let lastValue: unknown;
  return (column, wanted) => {
    if (typeof column !== 'string' || typeof wanted !== 'string') return 0;
    if (wanted !== lastText) {
      lastValue = JSON.parse(wanted);
      lastText = wanted;
    }
    const value: unknown = JSON.parse(column);
    return contains(value, lastValue) || (Array.isArray(value) && value.includes(lastValue)) ? 1 : 0;
  };
}

function containsAll(value: readonly unknown[], wanted: readonly unknown[]): boolean {
  // Once for all of them: each would look through all that is there.
  const there = new Set(value);
  return wanted.every((each) =>
    typeof each === 'object' && each !== null
      ? value.some((element) => contains(element, each))
      : there.has(each),
  );
}

function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && containsAll(value, wanted);
  if (isObject(wanted)) {
    return (
      isObject(value) &&
      Object.keys(wanted).every((key) => Object.hasOwn(value, key) && contains(value[key], wanted[key]))
    );
  }
  return value === wanted;
}
