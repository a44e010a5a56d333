import { columns } from '../../../db/columns.ts';
import { sql } from '../../../db/sql.ts';
import { NOW, nowPlus } from '../../../db/time.ts';
import type { Check, Finding, QuickContext } from './finding.ts';

export const keyChecks: readonly Check[] = [expiringKeys];

const DAY_MS = 24 * 60 * 60_000;
const AHEAD_MS = 7 * DAY_MS;

/** Clients that used a key lately will get, or already get, 401. */
export async function expiringKeys({ db }: QuickContext): Promise<Finding[]> {
  const rows = await db.all(sql`
    select ${columns('api_keys', 'key_id, name, expires_at')} from api_keys
    where revoked_at is null and expires_at <= ${nowPlus(AHEAD_MS)} and last_used_at >= ${nowPlus(-AHEAD_MS)}
      and expires_at >= ${nowPlus(-AHEAD_MS)} and last_used_at <= ${NOW} order by expires_at`);
  return rows.map(({ key_id, name, expires_at }) => ({
    check: 'keys',
    level: 'notice',
    message: `Key ${key_id} (${name}) is in use and expires at ${expires_at}: create a replacement with "agent-server keys create".`,
  }));
}
