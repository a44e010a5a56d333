import { isObject, type JsonObject, storable, toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { blindDocument } from '../../db/encryption/blind-index.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains } from '../../db/json.ts';
import { type MetadataFilter, metadataMatches } from '../../db/metadata-filter.ts';
import { and, or, type Sql, sql } from '../../db/sql.ts';
import { THREAD_COLUMNS } from './row.ts';

/** The state of a thread as it is stored: both are JSON texts. */
export interface SerializedState {
  readonly text: string;
  /** Its short members, and `LARGE` for each of the others: what searches look at, instead of whole states. */
  readonly summary: string;
}

/** Stands for a member that must be read in the state; also for a short one that happens to be the same text. */
export const ELIDED = '…';
/** Characters of JSON: names, numbers and flags, but not conversations. */
const MAX_MEMBER_CHARS = 100;
/** An outline is read with its thread in every list. */
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

/** As what it is blinded. */
const SUMMARY_COLUMN = 'threads.outline';

/** The outline as it is stored. Of large members it says nothing when it is blinded: nobody could look into them. */
export function encryptSummary(cipher: Cipher, summary: string): string {
  if (!cipher.enabled) return summary;
  const short = Object.entries(JSON.parse(summary)).filter(([, value]) => value !== ELIDED);
  return toJson(blindDocument(cipher, SUMMARY_COLUMN, Object.fromEntries(short)));
}

/** Blinds the outline of a thread whose state was not sealed before, `value`; else it is blinded already. */
export async function blindSummary(
  tx: Transaction,
  { thread_id, value }: { thread_id: string; value: string },
): Promise<void> {
  if (tx.cipher.decryptJson(THREAD_COLUMNS.values, value) !== value) return;
  const summary = encryptSummary(tx.cipher, serializeState(JSON.parse(value)).summary);
  await tx.run(sql`update threads set outline = ${summary} where thread_id = ${thread_id}`);
}

/** What the outline of a thread allows whose values contain `wanted`: the filter for its index. */
export function summaryFilter(cipher: Cipher, wanted: Record<string, unknown>): MetadataFilter {
  if (cipher.enabled) {
    // Not blinded is what is older than the encryption.
    return {
      any: [{ contains: blindDocument(cipher, SUMMARY_COLUMN, wanted) as JsonObject }, { contains: wanted }],
    };
  }
  return { all: Object.entries(wanted).map((member) => ({ any: inSummary(...member) })) };
}

/**
 * Whether the values of a thread contain `wanted`, exactly. A state is read only for a member that is large; not when it
 * is sealed, and then none of it matches.
 */
export function valuesContain(cipher: Cipher, wanted: Record<string, unknown>): Sql {
  if (cipher.enabled) return metadataMatches(SUMMARY_COLUMN, summaryFilter(cipher, wanted));
  return and(
    Object.entries(wanted).map(([key, value]) => {
      const [large, short] = inSummary(key, value).map((filter) =>
        metadataMatches('threads.outline', filter),
      );
      const inState = sql`(${large as Sql} and exists (select 1 from thread_values
        where thread_values.thread_id = threads.thread_id and ${contains('thread_values.value', { [key]: value })}))`;
      return short ? or([short, inState]) : inState;
    }),
  );
}

/** The member as one that is large, then as one that is there. */
function inSummary(key: string, value: unknown): MetadataFilter[] {
  const large = { contains: { [key]: ELIDED } };
  return value === ELIDED ? [large] : [large, { contains: { [key]: value } }];
}
