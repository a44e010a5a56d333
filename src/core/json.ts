/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, unknown>;

/**
 * JSON text of a value, with NUL as U+FFFD in keys and strings: PostgreSQL cannot store NUL in jsonb, and both
 * engines must answer alike (CONTRACT §1). `undefined` becomes `null`.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.includes('\\u0000') ? replaceNul(text) : text;
}

/** Only an odd number of backslashes before `u0000` makes it an escape: `\\u0000` is text about NUL. */
function replaceNul(text: string): string {
  return text.replace(/(\\+)u0000/g, (match, slashes: string) =>
    slashes.length % 2 === 1 ? `${slashes.slice(1)}\uFFFD` : match,
  );
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
