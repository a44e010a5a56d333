export type JsonObject = Record<string, unknown>;

/** JSON text of a value, `storable`. `undefined` becomes `null`. */
export function toJson(value: unknown): string {
  return storable(JSON.stringify(value) ?? 'null');
}

/**
 * The JSON text with NUL and unpaired surrogates as U+FFFD in keys and strings: PostgreSQL cannot store them in jsonb,
 * and both engines must answer alike (CONTRACT §1).
 */
export function storable(json: string): string {
  return json.includes('\\u0000') || json.includes('\\ud') ? replaceUnstorable(json) : json;
}

/** An escaped backslash, which the text behind it is not part of, or an escape that cannot be stored. */
const ESCAPE = /\\\\|\\u(?:0000|d[89a-f]..)/g;

/**
 * `JSON.stringify` escapes a surrogate only when it is unpaired. Backslashes are read in pairs: `\\u0000` is text about NUL,
 * and a long run of them is looked at once.
 */
function replaceUnstorable(text: string): string {
  return text.replace(ESCAPE, (found) => (found === '\\\\' ? found : '\uFFFD'));
}

export interface JsonSize {
  /** Characters of all texts and keys. */
  readonly characters: number;
  /** Values of all kinds, keys included. */
  readonly values: number;
}

/** Whether a JSON value is no larger than that. Looks no further than it must. */
export function isWithin(value: unknown, most: JsonSize): boolean {
  const left = { ...most };
  const waiting = [value];
  while (waiting.length > 0 && left.values >= 0 && left.characters >= 0) {
    const next = waiting.pop();
    left.values--;
    if (typeof next === 'string') left.characters -= next.length;
    if (typeof next !== 'object' || next === null) continue;
    const members = Array.isArray(next) ? next : Object.entries(next).flat();
    if (members.length > left.values) return false;
    waiting.push(...members);
  }
  return left.values >= 0 && left.characters >= 0;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
