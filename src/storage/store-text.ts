import type { Reader, Transaction } from './db.ts';
import { type DialectSql, raw, sql } from './sql.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './store-scope.ts';
import { scopeOf, scopesOf, type WordQuery, wordsOf } from './store-words.ts';

/** For an `insert into store_items`: PostgreSQL keeps the words in the row. */
export const WORDS_COLUMN: DialectSql = { sqlite: raw(''), postgres: raw(', words') };

/** The value of `WORDS_COLUMN`, its comma included. */
export function wordsValue(namespace: readonly string[], text: string | null): DialectSql {
  const words = text === null ? [] : wordsOf(text);
  const lexemes = [
    ...words.map((word, index) => `'${word}':${index + 1}`),
    ...(words.length > 0 ? scopesOf(namespace).map((scope) => `'${scope}'`) : []),
  ];
  return { sqlite: raw(''), postgres: sql`, ${lexemes.join(' ')}::tsvector` };
}

/** For its `on conflict do update set`. */
export const WORDS_UPDATE: DialectSql = { sqlite: raw(''), postgres: raw(', words = excluded.words') };

/** SQLite's word index is a table of its own, which must follow each change of an item in the same transaction. */
export async function indexWords(
  tx: Transaction,
  item_id: number,
  { namespace, text }: { readonly namespace: readonly string[]; readonly text: string | null },
): Promise<void> {
  if (tx.dialect !== 'sqlite') return;
  await tx.run(sql`delete from store_words where rowid = ${item_id}`);
  const words = text === null ? [] : wordsOf(text);
  if (words.length === 0) return;
  await tx.run(sql`insert into store_words (rowid, scope, words)
    values (${item_id}, ${scopesOf(namespace).join(' ')}, ${words.join(' ')})`);
}

/** Items that have words of the query, best first. Scores are between 0 and 1, each engine's own. */
export async function findByWords(reader: Reader, query: WordQuery, scope: StoreScope): Promise<Found[]> {
  const matches: DialectSql = {
    sqlite: sql`store_words match ${ftsQuery(query, scope.namespace_prefix)}`,
    postgres: sql`words @@ ${tsQuery(query, scope.namespace_prefix)}::tsquery`,
  };
  const rows = await reader.all<{ item_id: number; rank: number }>(sql`
    select item_id, ${rankOf(query)} as rank from ${FROM} where ${matches} and ${isInScope(scope)}
    order by 2 desc, ${LAST_CHANGED_FIRST} limit ${scope.limit} offset ${scope.offset}`);
  return rows.map(({ item_id, rank }) => ({ item_id, score: rank / (1 + rank) }));
}

const FROM: DialectSql = {
  sqlite: raw('store_words cross join store_items on item_id = store_words.rowid'),
  postgres: raw('store_items'),
};

/** 0 and more. On SQLite the first column counts nothing: it says where an item is, not what is in it. */
function rankOf({ any }: WordQuery): DialectSql {
  return {
    sqlite: raw('-bm25(store_words, 0.0, 1.0)'),
    postgres: sql`ts_rank(words, ${any.map(tsPhrase).join(' | ')}::tsquery)`,
  };
}

/** Words have no quotes in them, so these cannot end early. */
function ftsQuery({ any, none }: WordQuery, namespace_prefix: readonly string[]): string {
  const phrases = (terms: readonly string[][]) => terms.map((words) => `"${words.join(' ')}"`).join(' OR ');
  const scope = namespace_prefix.length > 0 ? `scope : "${scopeOf(namespace_prefix)}" AND ` : '';
  const wanted = `${scope}words : (${phrases(any)})`;
  return none.length > 0 ? `(${wanted}) NOT words : (${phrases(none)})` : wanted;
}

function tsQuery({ any, none }: WordQuery, namespace_prefix: readonly string[]): string {
  const scope = namespace_prefix.length > 0 ? [`'${scopeOf(namespace_prefix)}'`] : [];
  const unwanted = none.map((words) => `!${tsPhrase(words)}`);
  return [...scope, `(${any.map(tsPhrase).join(' | ')})`, ...unwanted].join(' & ');
}

function tsPhrase(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(' <-> ')})`;
}
