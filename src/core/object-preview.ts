import { isObject, toJson } from './json.ts';

/** Longest text of one field, characters. */
const FIELD = 200;
/**
 * Longest JSON of all fields with their names, bytes: a page of fifty items has less than half of what a browser should
 * be sent.
 */
const ALL = 3000;

/** How many fields are looked at: values may have thousands. */
const MOST = 50;

interface ObjectPreview {
  /** Whole if short, else the beginning of their text, or of their JSON as a text. */
  readonly fields: Record<string, unknown>;
  /** Names of the fields that are cut in `fields`. */
  readonly cut: string[];
  /** How many other fields there are. */
  readonly omitted: number;
}

/** The beginning of an object, of bounded size. Fields keep their order; those without room are left out. */
export function objectPreview(value: Readonly<Record<string, unknown>>): ObjectPreview {
  const fields: [name: string, value: unknown][] = [];
  const cut: string[] = [];
  const entries = Object.entries(value);
  let room = ALL;
  for (const [name, whole] of entries.slice(0, MOST)) {
    const start = beginning(whole);
    // A cut one is named twice.
    const bytes = Buffer.byteLength(toJson([name, start.value, start.is_cut ? name : '']));
    if (bytes > room) continue;
    room -= bytes;
    fields.push([name, start.value]);
    if (start.is_cut) cut.push(name);
  }
  return { fields: Object.fromEntries(fields), cut, omitted: entries.length - fields.length };
}

function beginning(value: unknown): { readonly value: unknown; readonly is_cut: boolean } {
  const text =
    typeof value === 'string' ? value : Array.isArray(value) || isObject(value) ? toJson(value) : '';
  if (text.length <= FIELD) return { value, is_cut: false };
  // A lone surrogate is no UTF-8.
  return { value: text.slice(0, FIELD).replace(/[\uD800-\uDBFF]$/, ''), is_cut: true };
}
