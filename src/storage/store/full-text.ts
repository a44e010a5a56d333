import type { Db, Reader, Transaction } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { type DialectSql, join, raw, sql } from '../../db/sql.ts';
import { decryptRule, type IndexRule, isEncryptedValue } from './encryption.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';
import { ROOT_PATH, searchText } from './text-at-path.ts';
import { scopeOf, scopesOf, tokenize, type WordQuery } from './tokenizer.ts';

/** For an `insert into store_items`: PostgreSQL keeps the words in the row. */
export const WORDS_COLUMN: DialectSql = { sqlite: raw(''), postgres: raw(', words') };

/** What a search by words sees of an item: nothing, the texts at some paths, or all of its value; as it is indexed. */
export function indexedWords(
  cipher: Cipher,
  value: Record<string, unknown>,
  rule: IndexRule,
): readonly string[] {
  return rule === false ? [] : blindWords(cipher, tokenize(searchText(value, rule ?? [ROOT_PATH])));
}

/** The value of `WORDS_COLUMN`, its comma included. */
export function wordsValue(namespace: readonly string[], words: readonly string[]): DialectSql {
  return { sqlite: raw(''), postgres: sql`, ${lexemesOf(namespace, words)}::tsvector` };
}

function lexemesOf(namespace: readonly string[], words: readonly string[]): string {
  const lexemes = [
    ...words.map((word, index) => `'${word}':${index + 1}`),
    ...(words.length > 0 ? scopesOf(namespace).map((scope) => `'${scope}'`) : []),
  ];
  return lexemes.join(' ');
}

/** For its `on conflict do update set`. */
export const WORDS_UPDATE: DialectSql = { sqlite: raw(''), postgres: raw(', words = excluded.words') };

/** SQLite's word index is a table of its own, which must follow each change of an item in the same transaction. */
export async function indexWords(
  tx: Transaction,
  item_id: number,
  { namespace, words }: { readonly namespace: readonly string[]; readonly words: readonly string[] },
): Promise<void> {
  if (tx.dialect !== 'sqlite') return;
  await tx.run(sql`delete from store_words where rowid = ${item_id}`);
  if (words.length === 0) return;
  await tx.run(sql`insert into store_words (rowid, scope, words)
    values (${item_id}, ${scopesOf(namespace).join(' ')}, ${words.join(' ')})`);
}

/** Words of an item from before encryption as tokens: part of the transaction that seals its value, given as it was. */
export async function blindIndexWords(
  tx: Transaction,
  { item_id, value }: { readonly item_id: number; readonly value: string },
): Promise<void> {
  if (isEncryptedValue(value)) return;
  const row = await tx.get<{ namespace: string; index_rule: string | null }>(
    sql`select namespace, index_rule from store_items where item_id = ${item_id}`,
  );
  if (!row) return;
  const namespace = JSON.parse(row.namespace);
  const rule = decryptRule(tx.cipher, row.index_rule);
  const words = indexedWords(tx.cipher, JSON.parse(value), rule);
  await indexWords(tx, item_id, { namespace, words });
  if (tx.dialect === 'sqlite') return;
  await tx.run(
    sql`update store_items set words = ${lexemesOf(namespace, words)}::tsvector where item_id = ${item_id}`,
  );
}

/** Parts of the index that are merged at once, while no one else can write; a page each. */
const MERGED_PAGES = 200;

/**
 * SQLite's index keeps words that were replaced until the part that has them is merged with others: merges all of it,
 * bit by bit.
 */
export async function mergeWordIndex(db: Db): Promise<void> {
  if (db.dialect !== 'sqlite') return;
  // Negative: all parts are to become one.
  for (let pages = -MERGED_PAGES, isDone = false; !isDone; pages = MERGED_PAGES) {
    isDone = await db.transaction('sync', async (tx) => {
      const before = await tx.get<{ n: number }>(sql`select total_changes() as n`);
      await tx.run(sql`insert into store_words (store_words, rank) values ('merge', ${pages})`);
      const after = await tx.get<{ n: number }>(sql`select total_changes() as n`);
      // One is the statement itself.
      return (after?.n ?? 0) - (before?.n ?? 0) < 2;
    });
  }
}

/**
 * Items that have words of the query, best first. A word counts the more the fewer of the found items have it. The
 * databases' own ranks are not used: they differ from each other, and SQLite's `bm25` reads every entry of a word, in
 * all namespaces (a hundred times slower for a user among 10,000).
 */
export async function findByWords(reader: Reader, query: WordQuery, scope: StoreScope): Promise<Found[]> {
  const found = query.any.map(
    (term, place) => sql`select * from (select item_id, ${place} as term from ${FROM}
      where ${matchesTerm(reader.cipher, term, query, scope)} and ${isInScope(reader.cipher, scope)} ${LIMIT_PER_TERM}) one`,
  );
  const rows = await reader.all<{ item_id: number; rank: number }>(sql`
    with found as materialized (${join(found, ' union all ')}),
    weights as (
      select term, ln(1 + (select count(distinct item_id) from found) * 1.0 / count(*)) as weight
      from found group by term
    ),
    ranked as (
      select item_id, sum(weight) as rank from found join weights on weights.term = found.term group by item_id
    )
    select ranked.item_id, rank from ranked join store_items on store_items.item_id = ranked.item_id
    order by rank desc, ${LAST_CHANGED_FIRST} limit ${scope.limit} offset ${scope.offset}`);
  return rows.map(({ item_id, rank }) => ({ item_id, score: rank / (1 + rank) }));
}

const FROM: DialectSql = {
  sqlite: raw('store_words cross join store_items on item_id = store_words.rowid'),
  postgres: raw('store_items'),
};

/**
 * Of a word that more items of the scope have, this many are enough: for a word of 125,000 items a search took 630 ms
 * with SQLite, in which the process did nothing else, and 4.7 s with PostgreSQL.
 */
const MAX_FOUND_PER_TERM = 10_000;

/** With SQLite the newest, which costs nothing more; with PostgreSQL whichever lie first. */
const LIMIT_PER_TERM: DialectSql = {
  sqlite: raw(`order by store_words.rowid desc limit ${MAX_FOUND_PER_TERM}`),
  postgres: raw(`limit ${MAX_FOUND_PER_TERM}`),
};

/** The item has the term and none of the unwanted ones; below the namespace, which the word index knows too. */
function matchesTerm(
  cipher: Cipher,
  term: readonly string[],
  { none }: WordQuery,
  { namespace_prefix }: StoreScope,
): DialectSql {
  const scope = namespace_prefix.length > 0 ? scopeOf(namespace_prefix) : undefined;
  const wanted = asIndexed(cipher, [term]);
  const unwanted = asIndexed(cipher, none);
  return {
    sqlite: sql`store_words match ${ftsQuery(wanted, unwanted, scope)}`,
    postgres: sql`words @@ ${tsQuery(wanted, unwanted, scope)}::tsquery`,
  };
}

type Phrases = readonly (readonly string[])[];

/** Words have no quotes in them, so these cannot end early. */
function ftsQuery(wanted: Phrases, unwanted: Phrases, scope: string | undefined): string {
  const anyOf = (phrases: Phrases) => `(${phrases.map((words) => `"${words.join(' ')}"`).join(' OR ')})`;
  const found = `${scope ? `scope : "${scope}" AND ` : ''}words : ${anyOf(wanted)}`;
  return unwanted.length > 0 ? `(${found}) NOT words : ${anyOf(unwanted)}` : found;
}

function tsQuery(wanted: Phrases, unwanted: Phrases, scope: string | undefined): string {
  const phrase = (words: readonly string[]) => `(${words.map((word) => `'${word}'`).join(' <-> ')})`;
  const anyOf = (phrases: Phrases) => `(${phrases.map(phrase).join(' | ')})`;
  const found = `${scope ? `'${scope}' & ` : ''}${anyOf(wanted)}`;
  return unwanted.length > 0 ? `${found} & !${anyOf(unwanted)}` : found;
}

/** Phrases as the index may have them: with encryption as tokens, or as words, of items from before. */
function asIndexed(cipher: Cipher, phrases: Phrases): Phrases {
  return cipher.enabled ? [...phrases.map((words) => blindWords(cipher, words)), ...phrases] : phrases;
}

/** Letters and digits of a token that stands for a word; so many that no two words share them. */
const BLIND_WORD_LENGTH = 16;

/** Words as they are indexed: their order and which are the same can be seen, not what they say. */
function blindWords(cipher: Cipher, words: readonly string[]): readonly string[] {
  if (!cipher.enabled) return words;
  const tokens = new Map<string, string>();
  for (const word of words) {
    if (!tokens.has(word))
      tokens.set(word, cipher.blindIndex('store_items.words', word).slice(0, BLIND_WORD_LENGTH));
  }
  return words.map((word) => tokens.get(word) as string);
}
