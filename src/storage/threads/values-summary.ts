import { isObject, type JsonObject, storable, toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { blind } from '../../db/encryption/blind-index.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains } from '../../db/json.ts';
import { type MetadataFilter, metadataMatches } from '../../db/metadata-filter.ts';
import { all, any, type Sql, sql } from '../../db/sql.ts';
import { THREAD } from './row.ts';

/** The state of a thread as it is stored: both are JSON texts. */
export interface StateText {
  readonly text: string;
  /** Its short members, and `LARGE` for each of the others: what searches look at, instead of whole states. */
  readonly outline: string;
}

/** Stands for a member that must be read in the state; also for a short one that happens to be the same text. */
export const LARGE = '…';
/** Characters of JSON: names, numbers and flags, but not conversations. */
const LONGEST_MEMBER = 100;
/** An outline is read with its thread in every list. */
const LONGEST_OUTLINE = 2000;

export function stateText(values: unknown): StateText {
  if (!isObject(values)) return { text: toJson(values), outline: '{}' };
  const whole: string[] = [];
  const short: string[] = [];
  let length = 0;
  for (const [key, value] of Object.entries(values)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    const name = JSON.stringify(key);
    const isShort = text.length <= LONGEST_MEMBER && length + text.length <= LONGEST_OUTLINE;
    if (isShort) length += text.length;
    whole.push(`${name}:${text}`);
    short.push(`${name}:${isShort ? text : JSON.stringify(LARGE)}`);
  }
  return { text: storable(`{${whole.join()}}`), outline: storable(`{${short.join()}}`) };
}

/** As what it is blinded. */
const OUTLINE = 'threads.outline';

/** The outline as it is stored. Of large members it says nothing when it is blinded: nobody could look into them. */
export function sealedOutline(cipher: Cipher, outline: string): string {
  if (!cipher.on) return outline;
  const short = Object.entries(JSON.parse(outline)).filter(([, value]) => value !== LARGE);
  return toJson(blind(cipher, OUTLINE, Object.fromEntries(short)));
}

/** Blinds the outline of a thread whose state was not sealed before, `value`; else it is blinded already. */
export async function blindOutline(
  tx: Transaction,
  { thread_id, value }: { thread_id: string; value: string },
): Promise<void> {
  if (tx.cipher.openJson(THREAD.values, value) !== value) return;
  const outline = sealedOutline(tx.cipher, stateText(JSON.parse(value)).outline);
  await tx.run(sql`update threads set outline = ${outline} where thread_id = ${thread_id}`);
}

/** What the outline of a thread allows whose values contain `wanted`: the filter for its index. */
export function outlineFilter(cipher: Cipher, wanted: Record<string, unknown>): MetadataFilter {
  if (cipher.on) {
    // Not blinded is what is older than the encryption.
    return { any: [{ contains: blind(cipher, OUTLINE, wanted) as JsonObject }, { contains: wanted }] };
  }
  return { all: Object.entries(wanted).map((member) => ({ any: inOutline(...member) })) };
}

/**
 * Whether the values of a thread contain `wanted`, exactly. A state is read only for a member that is large; not when it
 * is sealed, and then none of it matches.
 */
export function hasValues(cipher: Cipher, wanted: Record<string, unknown>): Sql {
  if (cipher.on) return metadataMatches(OUTLINE, outlineFilter(cipher, wanted));
  return all(
    Object.entries(wanted).map(([key, value]) => {
      const [large, short] = inOutline(key, value).map((filter) =>
        metadataMatches('threads.outline', filter),
      );
      const inState = sql`(${large as Sql} and exists (select 1 from thread_values
        where thread_values.thread_id = threads.thread_id and ${contains('thread_values.value', { [key]: value })}))`;
      return short ? any([short, inState]) : inState;
    }),
  );
}

/** The member as one that is large, then as one that is there. */
function inOutline(key: string, value: unknown): MetadataFilter[] {
  const large = { contains: { [key]: LARGE } };
  return value === LARGE ? [large] : [large, { contains: { [key]: value } }];
}
