import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns, decryptTextColumns } from '../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../db/json.ts';
import { and, FOR_UPDATE, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import type { Cron } from '../../schemas/crons.ts';
import { VISIBLE_CRONS, type Visibility, visible } from '../access/visibility.ts';

/** A cron with its server-only columns. */
export interface StoredCron extends Cron {
  /** `end_time` as a normalized timestamp. */
  readonly ends_at: string | null;
  /** The creator, as whom its runs act; `null` without authentication. */
  readonly run_as: object | null;
  /** The cron whose run created it. */
  readonly made_by_cron: string | null;
}

/** Schedule of a cron without its encrypted payload. */
export type CronTimes = Pick<
  StoredCron,
  'cron_id' | 'schedule' | 'timezone' | 'ends_at' | 'enabled' | 'next_run_date'
>;

export const TIMES = columns('crons', 'cron_id, schedule, timezone, ends_at, enabled, next_run_date');

export function timesOf(row: RowOf<typeof TIMES>): CronTimes {
  return { ...row, enabled: row.enabled === 1 };
}

export const COLUMNS = columns(
  'crons',
  `cron_id, assistant_id, thread_id, user_id, end_time, schedule, timezone, payload, next_run_date, metadata,
  on_run_completed, enabled, disabled_reason, created_at, updated_at, ends_at, run_as, made_by_cron`,
);

/** What is large of a cron. */
export const LARGE_COLUMNS = ['payload', 'metadata', 'run_as'].map(raw);

const PAYLOAD = 'crons.payload';
const RUN_AS = 'crons.run_as';
const DISABLED_REASON = 'crons.disabled_reason';

export function cronOf(cipher: Cipher, row: RowOf<typeof COLUMNS>): StoredCron {
  decryptTextColumns(cipher, row, { disabled_reason: DISABLED_REASON });
  const cron = decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), {
    payload: PAYLOAD,
    run_as: RUN_AS,
  });
  return { ...cron, enabled: cron.enabled === 1 };
}

/** Encrypted because it may quote the payload. */
export function encryptReason(cipher: Cipher, reason: string | null): string | null {
  return reason && cipher.encryptText(DISABLED_REASON, reason);
}

/** `lock`: holds the row lock until the transaction ends. */
export async function findCron(
  reader: Reader,
  cron_id: string,
  { visibility, lock = false }: { visibility?: Visibility | undefined; lock?: boolean },
): Promise<StoredCron | undefined> {
  const wanted = and([sql`cron_id = ${cron_id}`, visible(VISIBLE_CRONS, visibility)]);
  const row = await reader.get(
    sql`select ${COLUMNS} from crons where ${wanted} ${lock ? FOR_UPDATE : raw('')}`,
  );
  return row && cronOf(reader.cipher, row);
}

/** Mutable columns, for `update crons set`. */
export function assignments(cipher: Cipher, cron: StoredCron): Sql {
  return sql`end_time = ${cron.end_time}, ends_at = ${cron.ends_at}, schedule = ${cron.schedule},
    timezone = ${cron.timezone}, payload = ${encryptPayload(cipher, cron)}, next_run_date = ${cron.next_run_date},
    metadata = ${toJson(cron.metadata)}, on_run_completed = ${cron.on_run_completed},
    enabled = ${Number(cron.enabled)}, disabled_reason = ${encryptReason(cipher, cron.disabled_reason)}, updated_at = ${cron.updated_at}`;
}

/** In the order of `COLUMNS`. */
export function values(cipher: Cipher, cron: StoredCron): Sql {
  return sql`${cron.cron_id}, ${cron.assistant_id}, ${cron.thread_id}, ${cron.user_id}, ${cron.end_time},
    ${cron.schedule}, ${cron.timezone}, ${encryptPayload(cipher, cron)}, ${cron.next_run_date}, ${toJson(cron.metadata)},
    ${cron.on_run_completed}, ${Number(cron.enabled)}, ${encryptReason(cipher, cron.disabled_reason)}, ${cron.created_at},
    ${cron.updated_at}, ${cron.ends_at}, ${cron.run_as && cipher.encryptJson(RUN_AS, toJson(cron.run_as))},
    ${cron.made_by_cron}`;
}

function encryptPayload(cipher: Cipher, { payload }: StoredCron): string {
  return cipher.encryptJson(PAYLOAD, toJson(payload));
}
