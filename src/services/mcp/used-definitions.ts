import { isObject, type JsonObject } from '../../core/json.ts';

const KEYWORDS = ['$defs', 'definitions'];

/**
 * The schema without definitions that nothing refers to any more: clients show schemas to models, where each line of
 * them costs.
 */
export function withUsedDefinitions(schema: JsonObject): JsonObject {
  const { $defs: _defs, definitions: _definitions, ...rest } = schema;
  const all = KEYWORDS.flatMap((keyword) => entriesOf(schema, keyword));
  const used = new Set<string>();
  const follow = (value: unknown) => {
    for (const reference of referencesIn(value)) {
      if (used.has(reference)) continue;
      used.add(reference);
      follow(all.find((each) => each.reference === reference)?.definition);
    }
  };
  follow(rest);
  const kept = KEYWORDS.map((keyword) => [
    keyword,
    Object.fromEntries(
      entriesOf(schema, keyword)
        .filter(({ reference, definition }) => used.has(reference) || isNamed(definition))
        .map(({ name, definition }) => [name, definition]),
    ),
  ]);
  return {
    ...rest,
    ...Object.fromEntries(kept.filter(([, names]) => Object.keys(names as object).length > 0)),
  };
}

function entriesOf(schema: JsonObject, keyword: string) {
  const definitions = schema[keyword];
  if (!isObject(definitions)) return [];
  return Object.entries(definitions).map(([name, definition]) => ({
    name,
    definition,
    reference: `#/${keyword}/${name}`,
  }));
}

/** Referred to by its own name, which can be anywhere. */
function isNamed(definition: unknown): boolean {
  return isObject(definition) && ('$anchor' in definition || '$id' in definition);
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  const { $ref: reference, ...others } = value;
  const own = typeof reference === 'string' ? [decoded(reference)] : [];
  return [...own, ...Object.values(others).flatMap(referencesIn)];
}

/** As the key is written: references escape it twice, as a pointer and as part of an address. */
function decoded(reference: string): string {
  const pointer = reference.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
