import { isObject } from '../core/json.ts';

/** Overflow term of a document with more than `MAX_TERMS` terms: every search rechecks such a document. */
export const TOO_MANY = 0;
/** Above this, a document takes one row in the index, and every search reads the document. */
const MAX_TERMS = 100;
/** Values nested deeper are not indexed, in documents and in filters alike. */
const MAX_DEPTH = 16;

/**
 * Index terms of a JSON document: one hash per scalar, made of the value and its path; all elements of a list share one
 * path step. A document can contain another only if it has all of its terms (`TOO_MANY` aside). That is necessary, not
 * sufficient, so every hit is rechecked: hashes may collide and lists may be nested.
 */
export function termsOf(document: unknown): Set<number> {
  const terms = new Set<number>();
  collect(document, SEED, 0, terms);
  return terms.size > MAX_TERMS ? new Set([TOO_MANY]) : terms;
}

/**
 * SQLite's `json_terms(one, other)`: the terms of the first JSON text that the second lacks, as a JSON list. Called by
 * the triggers of `containment-index.ts`.
 */
export function jsonTerms(one: unknown, other: unknown): string {
  const terms = termsOf(JSON.parse(String(one)));
  if (other !== '{}') for (const term of termsOf(JSON.parse(String(other)))) terms.delete(term);
  return `[${[...terms].join(',')}]`;
}

function collect(value: unknown, path: number, level: number, terms: Set<number>): void {
  if (level > MAX_DEPTH || terms.size > MAX_TERMS) return;
  if (Array.isArray(value)) {
    const step = hash('[]', path);
    for (const element of value) collect(element, step, level + 1, terms);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value))
      collect(member, hash(`.${key}`, path), level + 1, terms);
  } else {
    terms.add(hash(`${typeof value}:${value}`, path) || 1);
  }
}

const SEED = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

/**
 * FNV-1a over UTF-16 code units, as a signed 32-bit integer; a terminator keeps `ab` + `c` apart from `a` + `bc`. Four bytes
 * per term are worth the collisions: each costs one recheck of a row.
 */
function hash(text: string, start: number): number {
  let state = start;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), PRIME);
  return Math.imul(state ^ 0xffff, PRIME);
}
