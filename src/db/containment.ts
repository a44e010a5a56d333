import { isObject } from '../core/json.ts';

/**
 * PostgreSQL's `jsonb @> jsonb` of parsed documents: objects match in part, arrays as subsets in any order. Its exception
 * is left out that at the top an array contains a scalar.
 */
export function containsJson(document: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(document) && containsAll(document, wanted);
  if (isObject(wanted)) {
    return (
      isObject(document) &&
      Object.keys(wanted).every(
        (key) => Object.hasOwn(document, key) && containsJson(document[key], wanted[key]),
      )
    );
  }
  return document === wanted;
}

function containsAll(list: readonly unknown[], wanted: readonly unknown[]): boolean {
  // One set for all lookups: otherwise each would scan the whole array.
  const there = new Set(list);
  return wanted.every((each) =>
    typeof each === 'object' && each !== null
      ? list.some((element) => containsJson(element, each))
      : there.has(each),
  );
}
