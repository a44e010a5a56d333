import { isObject, type JsonObject, storable, toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { blindDocument } from '../../db/encryption/blind-index.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains } from '../../db/json.ts';
import { type MetadataFilter, metadataMatches } from '../../db/metadata-filter.ts';
import { and, or, raw, type Sql, sql } from '../../db/sql.ts';
import { THREAD_COLUMNS } from './row.ts';

/** The state of a thread as stored: both are JSON texts. */
export interface SerializedState {
  readonly text: string;
  /** Its short members, and `ELIDED` for each other one: searches read it instead of the whole state. */
  readonly summary: string;
}

/** Stands for a member that must be read from the state; also for a short one that happens to be the same text. */
export const ELIDED = '…';
/** Characters of JSON: fits names, numbers and flags, but not conversations. */
const MAX_MEMBER_CHARS = 100;
/** Every listing reads the summary with its thread. */
const MAX_SUMMARY_CHARS = 2000;

export function serializeState(values: unknown): SerializedState {
  if (!isObject(values)) return { text: toJson(values), summary: '{}' };
  const whole: string[] = [];
  const short: string[] = [];
  let length = 0;
  for (const [key, value] of Object.entries(values)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    const name = JSON.stringify(key);
    const isShort = text.length <= MAX_MEMBER_CHARS && length + text.length <= MAX_SUMMARY_CHARS;
    if (isShort) length += text.length;
    whole.push(`${name}:${text}`);
    short.push(`${name}:${isShort ? text : JSON.stringify(ELIDED)}`);
  }
  return { text: storable(`{${whole.join()}}`), summary: storable(`{${short.join()}}`) };
}

const SUMMARY_COLUMN = 'threads.values_summary';
/** Cipher column of the blind index. It is part of every stored token, and so remains the name that the column once had. */
const BLIND_INDEX_COLUMN = 'threads.outline';

/** The summary as stored. With encryption it omits elided members, as the database could not search the state. */
export function encryptSummary(cipher: Cipher, summary: string): string {
  if (!cipher.enabled) return summary;
  const short = Object.entries(JSON.parse(summary)).filter(([, value]) => value !== ELIDED);
  return toJson(blindDocument(cipher, BLIND_INDEX_COLUMN, Object.fromEntries(short)));
}

/** Blinds the summary of a thread whose state, `value`, is not encrypted yet; otherwise it is blinded already. */
export async function blindSummary(
  tx: Transaction,
  { thread_id, value }: { thread_id: string; value: string },
): Promise<void> {
  if (tx.cipher.decryptJson(THREAD_COLUMNS.values, value) !== value) return;
  const summary = encryptSummary(tx.cipher, serializeState(JSON.parse(value)).summary);
  await tx.run(sql`update threads set values_summary = ${summary} where thread_id = ${thread_id}`);
}

/** Index filter: what the summary of a thread whose values contain `wanted` must match. */
export function summaryFilter(cipher: Cipher, wanted: Record<string, unknown>): MetadataFilter {
  if (cipher.enabled) {
    // Summaries older than the encryption are not blinded.
    return {
      any: [
        { contains: blindDocument(cipher, BLIND_INDEX_COLUMN, wanted) as JsonObject },
        { contains: wanted },
      ],
    };
  }
  return { all: Object.entries(wanted).map((member) => ({ any: inSummary(...member) })) };
}

/**
 * Exact condition: the values of a thread contain `wanted`. Reads a state only for an elided member. An encrypted state
 * cannot be read, so there elided members never match.
 */
export function valuesContain(cipher: Cipher, wanted: Record<string, unknown>): Sql {
  if (cipher.enabled) return metadataMatches(SUMMARY_COLUMN, summaryFilter(cipher, wanted));
  return and(
    Object.entries(wanted).map(([key, value]) => {
      const [large, short] = inSummary(key, value).map((filter) => metadataMatches(SUMMARY_COLUMN, filter));
      const inState = sql`(${large as Sql} and exists (select 1 from thread_values
        where thread_values.thread_id = threads.thread_id and ${contains('thread_values.value', { [key]: value })}))`;
      return short ? or([short, inState]) : inState;
    }),
  );
}

/** What that condition reads: the state too, as soon as one member is elided. */
export function largeOfValues(cipher: Cipher): Sql[] {
  const summary = raw(SUMMARY_COLUMN);
  if (cipher.enabled) return [summary];
  return [
    summary,
    raw('(select value from thread_values where thread_values.thread_id = threads.thread_id)'),
  ];
}

/** Filters for the member if elided, then if present in full. */
function inSummary(key: string, value: unknown): MetadataFilter[] {
  const large = { contains: { [key]: ELIDED } };
  return value === ELIDED ? [large] : [large, { contains: { [key]: value } }];
}
