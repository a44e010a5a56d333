export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of the first of these names that has one: Python writes `action_requests`, JavaScript `actionRequests`. */
export function either(object: JsonObject, ...names: readonly string[]): unknown {
  return names.map((name) => object[name]).find((value) => value !== undefined);
}

/** A random UUID. `crypto.randomUUID` is missing on pages over plain HTTP. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, hex);
}

/** The latest time with a four-digit year. */
const MAX_TIME_MS = 253_402_300_799_999;

/**
 * The time this many hours from now, 1970 at the earliest. `undefined` if it is not a number, as an address may contain
 * anything.
 */
export function hoursFromNow(hours: number): string | undefined {
  const time_ms = Math.max(0, Date.now() + hours * 3_600_000);
  return Number.isFinite(hours) && time_ms < MAX_TIME_MS ? new Date(time_ms).toISOString() : undefined;
}

/** The value of a text that is JSON, or else the text itself. */
export function typedValue(text: string): { value: unknown; isJson: boolean } {
  try {
    return { value: JSON.parse(text), isJson: true };
  } catch {
    return { value: text, isJson: false };
  }
}
