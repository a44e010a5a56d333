import { columns, number } from '../../../db/columns.ts';
import { sql } from '../../../db/sql.ts';
import { NOW, nowPlus } from '../../../db/time.ts';
import { type Check, counted, type DoctorContext, type Finding, some } from './finding.ts';

export const deliveryChecks: readonly Check[] = [postponed, unsent, dead];

const PATIENCE_MS = 10 * 60_000;

const ID = columns('webhook_outbox', 'delivery_id');

/** Due so late that nothing but a wrong clock has set it: a receiver may ask to wait until the delivery is given up. */
async function postponed({ db, give_up_ms }: DoctorContext): Promise<Finding[]> {
  const late = nowPlus(give_up_ms + PATIENCE_MS);
  const condition = sql`status = 'pending' and token is null and next_at > ${late}`;
  const rows = await db.all(sql`select ${ID} from webhook_outbox where ${condition}`);
  if (rows.length === 0) return [];
  return [
    {
      check: 'webhooks',
      level: 'problem',
      message: `Delivery ${some(rows.map(({ delivery_id }) => delivery_id))} waits longer than any retry delay: --fix makes it due now.`,
      fix: () => db.run(sql`update webhook_outbox set next_at = ${NOW} where ${condition}`),
    },
  ];
}

async function unsent({ db, is_served }: DoctorContext): Promise<Finding[]> {
  if (!is_served) return [];
  const row = await db.get(sql`
    select count(*) as ${number('n')} from webhook_outbox o
    where o.status = 'pending' and o.next_at <= ${nowPlus(-PATIENCE_MS)} and (o.lane is null or not exists (
      select 1 from webhook_outbox e where e.status = 'pending' and e.lane = o.lane and e.seq < o.seq))`);
  if (!row?.n) return [];
  return [
    {
      check: 'webhooks',
      level: 'problem',
      message: `${counted(row.n, 'delivery', 'deliveries')} should have been sent over ten minutes ago: check the logs of the servers, then restart them.`,
    },
  ];
}

async function dead({ db }: DoctorContext): Promise<Finding[]> {
  const row = await db.get(sql`select count(*) as ${number('n')} from webhook_outbox where status = 'dead'`);
  if (!row?.n) return [];
  return [
    {
      check: 'webhooks',
      level: 'notice',
      message: `${counted(row.n, 'delivery', 'deliveries')} failed permanently: GET /webhooks/deliveries?status=dead lists them, and POST /webhooks/deliveries/{id}/redeliver sends one again.`,
    },
  ];
}
