import { sql } from '../../db/sql.ts';

/** Nobody holds the delivery. */
export const UNCLAIMED = sql`token = null, worker_id = null, worker_token = null`;
/** Held by the process `worker_id`, and not by one of an earlier release, which leaves these columns as they are. */
export const IS_CLAIMED = sql`worker_id is not null and worker_token = token`;
