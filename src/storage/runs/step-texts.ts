import { textDigest } from '../../core/text.ts';
import { columns, nullable, number } from '../../db/columns.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { isOneOfNumbers, isOneOfTexts } from '../../db/json.ts';
import { insertRows } from '../../db/rows.ts';
import { raw, sql } from '../../db/sql.ts';
import type { MaskedContents, SharedName } from './masked-contents.ts';
import { fromRanges, type NumberRange, rangesOf } from './number-ranges.ts';

/** Cipher column, and the purpose of its blind index. */
const TEXT_COLUMN = 'step_texts.data';
const TEXT_HASH = 'step_texts.hash';

/** Which texts of the thread belong to a step, by number. */
export type TextNumbers = Partial<Record<SharedName, readonly number[]>>;

/** The column `texts` of a step. */
export function numbersOf(texts: string | null): TextNumbers {
  const ranges: Record<string, string> = texts === null ? {} : JSON.parse(texts);
  return Object.fromEntries(Object.entries(ranges).map(([name, ranges]) => [name, fromRanges(ranges)]));
}

/** All of them, whatever they are in the step. */
export function rangesOfTexts(texts: string): NumberRange[] {
  return Object.values(JSON.parse(texts) as Record<string, string>).flatMap(rangesOf);
}

/**
 * Part of a transaction that holds the head of the thread: stores the texts that the thread does not have yet. Returns the
 * number of each, by its hash. Idempotent.
 */
export async function putTexts(
  tx: Transaction,
  thread_id: string,
  contents: readonly MaskedContents[],
): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, { readonly blind_index: string; text?: string | undefined }>();
  for (const { hash, text } of contents.flatMap(({ shared }) => shared.flatMap(([, texts]) => texts))) {
    const known = all.get(hash);
    if (!known) all.set(hash, { blind_index: tx.cipher.blindIndex(TEXT_HASH, hash), text });
    else known.text ??= text;
  }
  if (all.size === 0) return new Map();
  const known = await numbersByHash(
    tx,
    thread_id,
    [...all.values()].map(({ blind_index }) => blind_index),
  );
  const fresh = [...all.values()].filter(
    ({ blind_index, text }) => text !== undefined && !known.has(blind_index),
  );
  if (fresh.length > 0) {
    let last = await lastNumber(tx, thread_id);
    const rows = fresh.map(({ blind_index, text = '' }) => {
      last += 1;
      known.set(blind_index, last);
      return sql`(${thread_id}, ${last}, ${blind_index}, ${tx.cipher.encryptText(TEXT_COLUMN, text)})`;
    });
    await insertRows(tx, INTO, rows, raw(''));
  }
  return new Map(
    [...all].flatMap(([hash, { blind_index }]) => {
      const found = known.get(blind_index);
      return found === undefined ? [] : [[hash, found] as const];
    }),
  );
}

const INTO = sql`step_texts (thread_id, number, hash, data)`;

async function numbersByHash(tx: Transaction, thread_id: string, hashes: readonly string[]) {
  const rows = await tx.all(sql`select ${columns('step_texts', 'number, hash')} from step_texts
    where thread_id = ${thread_id} and ${isOneOfTexts(raw('hash'), hashes)}`);
  return new Map(rows.map(({ hash, number }) => [hash, number]));
}

async function lastNumber(tx: Transaction, thread_id: string): Promise<number> {
  const row = await tx.get(sql`
    select max(number) as ${nullable(number('last'))} from step_texts where thread_id = ${thread_id}`);
  return row?.last ?? 0;
}

/** The texts with these numbers. Those that are missing were deleted meanwhile. */
export async function readTexts(
  reader: Reader,
  thread_id: string,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const rows = await reader.all(sql`select ${columns('step_texts', 'number, data')} from step_texts
    where thread_id = ${thread_id} and ${isOneOfNumbers(raw('number'), [...new Set(numbers)])}`);
  return new Map(rows.map(({ number, data }) => [number, reader.cipher.decryptText(TEXT_COLUMN, data)]));
}

/** Part of a key rotation: the hash of a text from before encryption becomes blind. */
export async function blindTextHash(
  tx: Transaction,
  { thread_id, number, data }: { thread_id: string; number: number; data: string },
): Promise<void> {
  const hash = tx.cipher.blindIndex(TEXT_HASH, textDigest(tx.cipher.decryptText(TEXT_COLUMN, data)));
  await tx.run(
    sql`update step_texts set hash = ${hash} where thread_id = ${thread_id} and number = ${number}`,
  );
}
