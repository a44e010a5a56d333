import { sql } from '../../db/sql.ts';

/** No process holds the delivery. */
export const UNCLAIMED = sql`token = null, worker_id = null`;
/** Held by the process `worker_id`. */
export const IS_CLAIMED = sql`worker_id is not null`;
