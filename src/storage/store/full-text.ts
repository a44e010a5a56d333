import { columns, number } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { type DialectSql, join, raw, sql } from '../../db/sql.ts';
import { slicesOf } from '../search/byte-slices.ts';
import { decryptRule, type IndexRule, isEncryptedValue } from './encryption.ts';
import { matchesAmong, readsValues } from './item-slices.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';
import { ROOT_PATH, searchText } from './text-at-path.ts';
import { OMITTED, scopeOf, scopesOf, tokenize, type WordQuery, withoutRepetition } from './tokenizer.ts';

/** Column list suffix for `insert into store_items`: PostgreSQL stores the words in the row. */
export const WORDS_COLUMN: DialectSql = { sqlite: raw(''), postgres: raw(', words') };

/** Words that full-text search indexes: none, those at some paths, or all of the value; blinded if encrypted. */
export function indexedWords(
  cipher: Cipher,
  value: Record<string, unknown>,
  rule: IndexRule,
): readonly string[] {
  return rule === false
    ? []
    : blindWords(cipher, withoutRepetition(tokenize(searchText(value, rule ?? [ROOT_PATH]))));
}

/** The value of `WORDS_COLUMN`, with its comma. */
export function wordsValue(namespace: readonly string[], words: readonly string[]): DialectSql {
  return { sqlite: raw(''), postgres: sql`, ${lexemesOf(namespace, words)}::tsvector` };
}

function lexemesOf(namespace: readonly string[], words: readonly string[]): string {
  const lexemes = [
    ...words.flatMap((word, index) => (word === OMITTED ? [] : [`'${word}':${index + 1}`])),
    ...(words.length > 0 ? scopesOf(namespace).map((scope) => `'${scope}'`) : []),
  ];
  return lexemes.join(' ');
}

/** For its `on conflict do update set`. */
export const WORDS_UPDATE: DialectSql = { sqlite: raw(''), postgres: raw(', words = excluded.words') };

/** SQLite's full-text index is a separate table, updated in the transaction that changes the item. */
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

/** Indexes the words of an item whose row is already there, on either engine. */
export async function putWords(
  tx: Transaction,
  item_id: number,
  { namespace, words }: { readonly namespace: readonly string[]; readonly words: readonly string[] },
): Promise<void> {
  await indexWords(tx, item_id, { namespace, words });
  if (tx.dialect === 'sqlite') return;
  await tx.run(
    sql`update store_items set words = ${lexemesOf(namespace, words)}::tsvector where item_id = ${item_id}`,
  );
}

/** Blinds the words of an item from before encryption, in the transaction that encrypts its value. */
export async function blindIndexWords(
  tx: Transaction,
  { item_id, value }: { readonly item_id: number; readonly value: string },
): Promise<void> {
  if (isEncryptedValue(value)) return;
  const row = await tx.get(
    sql`select ${columns('store_items', 'namespace, index_rule')} from store_items where item_id = ${item_id}`,
  );
  if (!row) return;
  const words = indexedWords(tx.cipher, JSON.parse(value), decryptRule(tx.cipher, row.index_rule));
  await putWords(tx, item_id, { namespace: JSON.parse(row.namespace), words });
}

/** Index pages merged per transaction, which blocks other writers. */
const MERGED_PAGES = 200;

const TOTAL_CHANGES = sql`select total_changes() as ${number('n')}`;

/**
 * FTS5 retains replaced words until their segment is merged: merges all segments, incrementally, so that no plaintext
 * words remain.
 */
export async function mergeWordIndex(db: Db): Promise<void> {
  if (db.dialect !== 'sqlite') return;
  // Negative: merge all segments into one.
  for (let pages = -MERGED_PAGES, isDone = false; !isDone; pages = MERGED_PAGES) {
    isDone = await db.transaction('sync', async (tx) => {
      const before = await tx.get(TOTAL_CHANGES);
      await tx.run(sql`insert into store_words (store_words, rank) values ('merge', ${pages})`);
      const after = await tx.get(TOTAL_CHANGES);
      // One change is the statement itself.
      return (after?.n ?? 0) - (before?.n ?? 0) < 2;
    });
  }
}

/**
 * Items that match the query, best first. A word weighs more the fewer of the found items have it. Ruled out: the
 * databases' own ranks, which differ, and SQLite's `bm25` reads every entry of a word in all namespaces (a hundred
 * times slower for a user among 10,000).
 */
export async function findByWords(reader: Reader, query: WordQuery, within: StoreScope): Promise<Found[]> {
  const scope = await withoutConditions(reader, query, within);
  const found = query.any.map(
    (term, place) => sql`select * from (select item_id, ${place} as term from ${FROM}
      where ${matchesTerm(reader.cipher, term, query, scope)} and ${isInScope(reader.cipher, scope)} ${LIMIT_PER_TERM}) one`,
  );
  const rows = await reader.all(sql`
    with found as materialized (${join(found, ' union all ')}),
    weights as (
      select term, ln(1 + (select count(distinct item_id) from found) * 1.0 / count(*)) as weight
      from found group by term
    ),
    ranked as (
      select item_id, cast(sum(weight) as double precision) as rank
      from found join weights on weights.term = found.term group by item_id
    )
    select ${columns('store_items', 'ranked.item_id')}, ${number('rank')}
    from ranked join store_items on store_items.item_id = ranked.item_id
    order by rank desc, ${LAST_CHANGED_FIRST} limit ${scope.limit} offset ${scope.offset}`);
  return rows.map(({ item_id, rank }) => ({ item_id, score: rank / (1 + rank) }));
}

/** Evaluates conditions on values slice by slice, on items with a word of the query: a statement of SQLite would block. */
async function withoutConditions(reader: Reader, query: WordQuery, scope: StoreScope): Promise<StoreScope> {
  if (!readsValues(reader, scope)) return scope;
  const { cipher } = reader;
  const namespace = scope.namespace_prefix.length > 0 ? scopeOf(scope.namespace_prefix) : undefined;
  const match = ftsQuery(asIndexed(cipher, query.any), asIndexed(cipher, query.none), namespace);
  const words = sql`store_words match ${match}`;
  const item_ids: number[] = [];
  for (let last = Number.MAX_SAFE_INTEGER; item_ids.length < MAX_FOUND_PER_TERM; ) {
    const rows = await reader.all(sql`
      select ${columns('store_items', 'item_id')}, octet_length(value) as ${number('bytes')} from ${FROM}
      where ${words} and store_words.rowid < ${last} order by store_words.rowid desc limit ${MATCHED_ITEMS}`);
    for (const slice of slicesOf(rows)) {
      const ids = slice.map(({ item_id }) => item_id);
      item_ids.push(...(await matchesAmong(reader, ids, scope)));
    }
    if (rows.length < MATCHED_ITEMS) break;
    last = rows.at(-1)?.item_id ?? 0;
  }
  return { ...scope, conditions: [], visibility: undefined, item_ids };
}

/** Items with a word of the query whose sizes are read at a time. */
const MATCHED_ITEMS = 2000;

const FROM: DialectSql = {
  sqlite: raw('store_words cross join store_items on item_id = store_words.rowid'),
  postgres: raw('store_items'),
};

/**
 * Cap per term: for a word in 125,000 items a search took 630 ms with SQLite, blocking the process, and 4.7 s with
 * PostgreSQL.
 */
const MAX_FOUND_PER_TERM = 10_000;

/** SQLite: the newest, at no extra cost; PostgreSQL: in physical order. */
const LIMIT_PER_TERM: DialectSql = {
  sqlite: raw(`order by store_words.rowid desc limit ${MAX_FOUND_PER_TERM}`),
  postgres: raw(`limit ${MAX_FOUND_PER_TERM}`),
};

/** Matches the term and none of the excluded ones, within the namespace, which is part of the full-text index. */
function matchesTerm(
  cipher: Cipher,
  term: readonly string[],
  query: WordQuery,
  { namespace_prefix }: StoreScope,
): DialectSql {
  const scope = namespace_prefix.length > 0 ? scopeOf(namespace_prefix) : undefined;
  const wanted = asIndexed(cipher, [term]);
  const unwanted = asIndexed(cipher, query.none);
  return {
    sqlite: sql`store_words match ${ftsQuery(wanted, unwanted, scope)}`,
    postgres: sql`words @@ ${tsQuery(wanted, unwanted, scope)}::tsquery`,
  };
}

type Phrases = readonly (readonly string[])[];

/** Words contain no quotes, so phrases cannot break out of theirs. */
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

/** Phrases as indexed; with encryption blinded, and also plain for items from before. */
function asIndexed(cipher: Cipher, phrases: Phrases): Phrases {
  return cipher.enabled ? [...phrases.map((words) => blindWords(cipher, words)), ...phrases] : phrases;
}

/** Characters of a blinded word; long enough to rule out collisions. */
const BLIND_WORD_LENGTH = 16;

/** Words as indexed: blinding hides the words, but not their order and repetition. */
function blindWords(cipher: Cipher, words: readonly string[]): readonly string[] {
  if (!cipher.enabled) return words;
  const tokens = new Map<string, string>([[OMITTED, OMITTED]]);
  for (const word of words) {
    if (!tokens.has(word))
      tokens.set(word, cipher.blindIndex('store_items.words', word).slice(0, BLIND_WORD_LENGTH));
  }
  return words.map((word) => tokens.get(word) as string);
}
