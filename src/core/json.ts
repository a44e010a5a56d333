/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, unknown>;

/**
 * JSON text of a value, with NUL and unpaired surrogates as U+FFFD in keys and strings: PostgreSQL cannot store them
 * in jsonb, and both engines must answer alike (CONTRACT §1). `undefined` becomes `null`.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.includes('\\u0000') || text.includes('\\ud') ? replaceUnstorable(text) : text;
}

/**
 * `JSON.stringify` escapes a surrogate only when it is unpaired. Only an odd number of backslashes makes an escape:
 * `\\u0000` is text about NUL.
 */
function replaceUnstorable(text: string): string {
  return text.replace(/(\\+)u(?:0000|d[89a-f]..)/g, (match, slashes: string) =>
    slashes.length % 2 === 1 ? `${slashes.slice(1)}\uFFFD` : match,
  );
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
