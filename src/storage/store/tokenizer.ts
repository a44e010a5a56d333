import { createHash } from 'node:crypto';

/** Maximum words per item. PostgreSQL stores positions up to 16,383, and a full-text index gains nothing from more. */
const MAX_WORDS = 10_000;
/** Maximum words per query: the cost of a search is their number, times the positions of each in every item. */
const MAX_QUERY_WORDS = 32;
/** Maximum words of a phrase, whose later ones are ignored. */
const MAX_PHRASE_WORDS = 8;
/** Positions of a word that are indexed per item: as many as PostgreSQL stores. */
const MAX_POSITIONS = 256;
const MAX_WORD_LENGTH = 64;
/** Maximum characters to tokenize: beyond them there are too many words, or none. */
const MAX_CHARACTERS = 16 * MAX_WORDS;

/** Scripts without spaces: each character is a word, and a phrase matches them in order. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Tokenizes into lower-case letters and digits without accents, the same for both databases, which would split e-mail
 * addresses, hyphens and numbers differently.
 */
export function tokenize(text: string, most: number = MAX_WORDS): string[] {
  const plain = text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(UNSPACED, ' $& ');
  const words: string[] = [];
  for (const [word] of plain.matchAll(WORD)) {
    if (words.length === most) break;
    words.push(word.slice(0, MAX_WORD_LENGTH));
  }
  return words;
}

/** Keeps the place of a word that is not indexed. No query has it, as it is no letter. */
export const OMITTED = '…';

/** Omits further repetitions of a word: phrases of words that an item repeats are slow to find, and rarely of interest. */
export function withoutRepetition(words: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return words.map((word) => {
    const count = counts.get(word) ?? 0;
    counts.set(word, count + 1);
    return count < MAX_POSITIONS ? word : OMITTED;
  });
}

/** A parsed query. Each term is a word or a phrase. Without one to match it finds nothing. */
export interface WordQuery {
  /** Matches any of these terms; more matches score higher. */
  readonly any: readonly string[][];
  /** Excludes items with any of these terms. */
  readonly none: readonly string[][];
}

/** A quoted phrase, or text up to a space, either with an optional leading minus. */
const TERM = /(?<!\S)(-?)(?:"([^"]+)"|(\S+))/gu;

/** `undefined` if the query has no word: then everything matches. */
export function parseWordQuery(query: string): WordQuery | undefined {
  const any = new Map<string, string[]>();
  const none = new Map<string, string[]>();
  let left = MAX_QUERY_WORDS;
  for (const [, minus, phrase, text = ''] of query
    .slice(0, 20 * MAX_QUERY_WORDS * MAX_WORD_LENGTH)
    .matchAll(TERM)) {
    if (left === 0) break;
    const into = minus === '' ? any : none;
    const words = tokenize(phrase ?? text, Math.min(MAX_PHRASE_WORDS, left));
    const name = words.join(' ');
    if (words.length === 0 || into.has(name)) continue;
    // Unquoted `e-mail` is two words too; treat it as a phrase.
    into.set(name, words);
    left -= words.length;
  }
  if (any.size === 0 && none.size === 0) return undefined;
  return { any: [...any.values()], none: [...none.values()] };
}

/** Labels indexed per namespace; deeper ones are matched by the condition on the item. */
const SCOPE_LABELS = 8;

/** One index word per ancestor namespace, including its own. */
export function scopesOf(labels: readonly string[]): string[] {
  return labels.slice(0, SCOPE_LABELS).map((_, index) => scopeOf(labels.slice(0, index + 1)));
}

/** Index word of the items below a namespace. */
export function scopeOf(labels: readonly string[]): string {
  const text = JSON.stringify(labels.slice(0, SCOPE_LABELS));
  return `in${createHash('sha1').update(text).digest('hex').slice(0, 16)}`;
}
