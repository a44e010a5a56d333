import { systemClock } from '../../src/core/clock.ts';
import { nextCronTime } from '../../src/core/cron-times.ts';
import type { Db } from '../../src/db/db.ts';
import { raw } from '../../src/db/sql.ts';

export const IDS = {
  thread: '00000000-0000-4000-a000-000000000001',
  run: '00000000-0000-4000-a000-000000000002',
  scheduled: '00000000-0000-4000-a000-000000000003',
  cron: '00000000-0000-4000-a000-000000000004',
  delivery: '00000000-0000-4000-a000-000000000005',
  assistant: '00000000-0000-4000-a000-000000000006',
  other: '00000000-0000-4000-a000-000000000007',
} as const;

/** What the doctor knows of the configuration of servers. */
export const DOCTOR_RULES = {
  max_attempts: 3,
  max_connections: 20,
  log_retention_ms: 60_000,
  give_up_ms: 86_400_000,
  clock: systemClock,
};

/** From now, ISO-8601. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** `columns: value` as an insert; texts and numbers as they are. */
export function insert(table: string, row: Readonly<Record<string, string | number | null>>): string {
  const values = Object.values(row).map((value) =>
    typeof value === 'string' ? `'${value}'` : String(value),
  );
  return `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`;
}

export function aRun(run_id: string, status: string): string {
  return insert('runs', {
    run_id,
    thread_id: IDS.thread,
    assistant_id: IDS.assistant,
    status,
    metadata: '{}',
    kwargs: '{}',
    assistant_name: 'agent',
    assistant_version: 1,
    multitask_strategy: 'enqueue',
    attempt: 0,
    created_at: inMinutes(0),
    updated_at: inMinutes(0),
  });
}

export function aQueueRow(run_id: string, state: string, more: Record<string, string | number> = {}): string {
  return insert('run_queue', { run_id, thread_id: IDS.thread, state, not_before: inMinutes(0), ...more });
}

export function aCheckpoint(thread_id: string, checkpoint_id: string): string {
  const rest = { checkpoint: '{}', versions: '{}', metadata: '{}' };
  return insert('checkpoints', { thread_id, ns: '', checkpoint_id, ...rest });
}

export function aDelivery(delivery_id: string, status: string, next_at: string): string {
  return insert('webhook_outbox', {
    delivery_id,
    kind: 'run',
    metadata: '{}',
    url: 'https://a.test/',
    shown_url: 'https://a.test/',
    host: 'a.test',
    headers: '{}',
    status,
    next_at,
    created_at: inMinutes(0),
    round_at: inMinutes(0),
    body: '{}',
  });
}

/** A thread with a run that ended and one that is scheduled, a cron and a delivery: nothing to complain about. */
export async function insertHealthyRows(db: Db): Promise<void> {
  const next = nextCronTime('0 0 1 1 *', null, Date.now()) as number;
  const { thread: thread_id, run: run_id } = IDS;
  const statements = [
    insert('threads', {
      thread_id,
      status: 'idle',
      metadata: '{"a":1}',
      config: '{}',
      interrupts: '{}',
      created_at: inMinutes(0),
      updated_at: inMinutes(0),
      state_updated_at: inMinutes(0),
    }),
    aRun(run_id, 'success'),
    insert('run_events', { run_id, seq: 1, event: 'values', data: '{}' }),
    insert('run_event_expiry', { run_id, expires_at: inMinutes(60) }),
    insert('thread_log', { thread_id, base: 0, run_id, length: 1 }),
    aRun(IDS.scheduled, 'pending'),
    aQueueRow(IDS.scheduled, 'scheduled', { not_before: inMinutes(60) }),
    insert('crons', {
      cron_id: IDS.cron,
      assistant_id: IDS.assistant,
      schedule: '0 0 1 1 *',
      next_run_date: new Date(next).toISOString(),
      enabled: 1,
      metadata: '{}',
      user_id: '',
      created_at: inMinutes(0),
      updated_at: inMinutes(0),
      payload: '{}',
    }),
    aDelivery(IDS.delivery, 'pending', inMinutes(30)),
  ];
  await db.transaction('sync', async (tx) => {
    for (const statement of statements) await tx.run(raw(statement));
  });
}
