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
