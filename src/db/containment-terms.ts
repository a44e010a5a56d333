import { isObject } from '../core/json.ts';

/** Stands for a document with more terms than are worth a row each: it is looked at in every search. */
export const TOO_MANY = 0;
/** Above, a document costs one row in the index, and each search reads it. */
const MAX_TERMS = 100;
/** What lies deeper is not indexed, in documents as in filters. */
const MAX_DEPTH = 16;

/**
 * What an index keeps of a JSON document: one number for each plain value, made of the value and of the path to it, on
 * which all elements of a list share a step. A document contains only documents whose terms it has (but for `TOO_MANY`);
 * the reverse needs a look at both, for numbers may collide and lists be nested.
 */
export function termsOf(document: unknown): Set<number> {
  const terms = new Set<number>();
  collect(document, SEED, 0, terms);
  return terms.size > MAX_TERMS ? new Set([TOO_MANY]) : terms;
}

/**
 * SQLite's `json_terms(one, other)`: the terms that the first JSON text has and the second lacks, as a JSON list.
 * The triggers of `containment-index.ts` call it.
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
 * FNV-1a over the text's code units, as a signed 32-bit number, with an end so that `ab` + `c` is not `a` + `bc`. A
 * collision costs a look at a row; four bytes a term are worth it.
 */
function hash(text: string, start: number): number {
  let state = start;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), PRIME);
  return Math.imul(state ^ 0xffff, PRIME);
}
