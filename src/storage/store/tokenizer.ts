import { createHash } from 'node:crypto';

/** Of one item. PostgreSQL keeps no more positions than 16,383, and no word index gains from more. */
const MAX_WORDS = 10_000;
/** Of one query. */
const MAX_TERMS = 32;
const MAX_WORD_LENGTH = 64;
/** Of a text: its words beyond are too many, or no words. */
const MAX_CHARACTERS = 16 * MAX_WORDS;

/** Scripts without spaces between words: each character is a word, and a phrase finds them in order. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of a text as both databases index them: letters and digits, small, without accents. They are cut here, for
 * the databases would cut e-mail addresses, hyphens and numbers each in its own way.
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

/** What a query looks for. Each term is one word, or words that follow each other. */
export interface WordQuery {
  /** An item fits when it has one of them; more are better. */
  readonly any: readonly string[][];
  /** An item with one of these does not fit. */
  readonly none: readonly string[][];
}

/** A phrase in quotes, or text up to a space; either may have a minus before it. */
const TERM = /(?<!\S)(-?)(?:"([^"]+)"|(\S+))/gu;

/** Undefined when there is no word to look for: then everything fits. */
export function parseWordQuery(query: string): WordQuery | undefined {
  const any = new Map<string, string[]>();
  const none = new Map<string, string[]>();
  for (const [, minus, phrase, text = ''] of query
    .slice(0, 20 * MAX_TERMS * MAX_WORD_LENGTH)
    .matchAll(TERM)) {
    if (any.size + none.size >= MAX_TERMS) break;
    const into = minus === '' ? any : none;
    const words = tokenize(phrase ?? text, MAX_TERMS);
    // `e-mail` without quotes is two words too, and they belong together.
    if (words.length > 0) into.set(words.join(' '), words);
  }
  return any.size > 0 ? { any: [...any.values()], none: [...none.values()] } : undefined;
}

/** Deeper namespaces are found by these first labels, and the rest by the condition on the item. */
const SCOPE_LABELS = 8;

/** A word for each namespace that an item of this one is below, its own included. */
export function scopesOf(labels: readonly string[]): string[] {
  return labels.slice(0, SCOPE_LABELS).map((_, index) => scopeOf(labels.slice(0, index + 1)));
}

/** The word that items below a namespace have; undefined for all items. */
export function scopeOf(labels: readonly string[]): string {
  const text = JSON.stringify(labels.slice(0, SCOPE_LABELS));
  return `in${createHash('sha1').update(text).digest('hex').slice(0, 16)}`;
}
