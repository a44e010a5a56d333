import { columns, flag, number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { NOW, timePlus } from '../../db/time.ts';

/** What decides when a delivery is sent, besides its own row. */
export interface DeliveryPosition {
  /** A process holds the lease: an attempt is under way. */
  readonly is_being_sent: boolean;
  readonly is_due: boolean;
  /** The pending delivery directly before it in its lane; null if it is the first, or in no lane. */
  readonly behind: string | null;
  /** When it is given up, ISO-8601. */
  readonly gives_up_at: string;
  readonly max_tries: number | null;
  /** Due deliveries to the same receiver, this one included; counted up to 1,000. */
  readonly n_due_of_host: number;
}

const MAX_COUNTED = 1000;

const ROW = columns('webhook_outbox', 'max_tries, lane, seq, host');

/** `undefined` if the delivery does not exist. `give_up_ms`: how long it is retried. */
export async function deliveryPosition(
  reader: Reader,
  delivery_id: string,
  give_up_ms: number,
): Promise<DeliveryPosition | undefined> {
  const row = await reader.get(sql`
    select ${ROW}, ${timePlus('round_at', give_up_ms)} as ${text('gives_up_at')},
      (token is not null and next_at > ${NOW}) as ${flag('is_being_sent')}, (next_at <= ${NOW}) as ${flag('is_due')}
    from webhook_outbox where delivery_id = ${delivery_id}`);
  if (!row) return undefined;
  const { lane, seq, host, is_being_sent, is_due, ...position } = row;
  const [behind = null, n_due_of_host] = await Promise.all([
    lane === null ? null : beforeInLane(reader, lane, seq),
    dueOfHost(reader, host),
  ]);
  return {
    ...position,
    is_being_sent: Boolean(is_being_sent),
    is_due: Boolean(is_due),
    behind,
    n_due_of_host,
  };
}

async function beforeInLane(reader: Reader, lane: string, seq: number): Promise<string | undefined> {
  const row = await reader.get(sql`
    select ${columns('webhook_outbox', 'delivery_id')} from webhook_outbox
    where status = 'pending' and lane = ${lane} and seq < ${seq} order by seq desc limit 1`);
  return row?.delivery_id;
}

async function dueOfHost(reader: Reader, host: string): Promise<number> {
  const row = await reader.get(sql`
    select count(*) as ${number('due')} from (
      select 1 from webhook_outbox where status = 'pending' and host = ${host} and next_at <= ${NOW}
      limit ${MAX_COUNTED}) as first`);
  return row?.due ?? 0;
}
