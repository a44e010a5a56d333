import { randomUUID } from 'node:crypto';
import type { StoredCron } from '../../src/storage/crons/row.ts';

export const AT = '2026-06-01T12:00:00.000Z';

/** A cron of every hour. */
export function storedCron(fields: Partial<StoredCron> = {}): StoredCron {
  return {
    cron_id: randomUUID(),
    assistant_id: randomUUID(),
    thread_id: null,
    user_id: '',
    end_time: null,
    schedule: '0 * * * *',
    timezone: null,
    payload: {},
    next_run_date: '2026-06-01T13:00:00.000Z',
    metadata: {},
    on_run_completed: 'delete',
    enabled: true,
    disabled_reason: null,
    created_at: AT,
    updated_at: AT,
    ends_at: null,
    run_as: null,
    made_by_cron: null,
    ...fields,
  };
}
