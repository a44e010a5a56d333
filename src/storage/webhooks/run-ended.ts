import { toJson } from '../../core/json.ts';
import type { Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../db/json.ts';
import { sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { Run, RunStatus } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { enqueueDelivery } from './enqueue.ts';

export interface RunWebhookRules {
  /** False: runs end and nobody is told (`http.disable_webhooks`). */
  readonly enabled: boolean;
  /** Whether runs that leave no thread behind tell their values; the official server does not (CONTRACT §6). */
  readonly stateless_values: boolean;
}

export const DEFAULT_WEBHOOK_RULES: RunWebhookRules = { enabled: true, stateless_values: false };

export interface EndedRun {
  readonly run_id: string;
  readonly status: RunStatus | 'rollback';
  /** Where the run's row has none. */
  readonly error: RunError | null;
  /** JSON text of the newest state; null when it came to none, `kept` for what the thread shows. */
  readonly values: string | null | 'kept';
  /** ISO-8601; now without it. */
  readonly at?: string;
}

type Row = Omit<Run, 'langsmith_session_name'> & {
  started_at: string | null;
  error: RunError | null;
  thread_metadata: Record<string, unknown>;
  now: string;
};

/**
 * Part of the transaction that ends a run, while its row is there: what its webhook is to be told. Nothing when it has
 * none, and nothing of a run that never began (CONTRACT §6).
 */
export async function enqueueRunEnd(tx: Transaction, ended: EndedRun, rules: RunWebhookRules): Promise<void> {
  if (!rules.enabled) return;
  const row = await tx.get<Row>(sql`
    select r.run_id, r.thread_id, r.assistant_id, r.metadata, r.kwargs, r.multitask_strategy, r.created_at,
      r.started_at, r.error, t.metadata as thread_metadata, ${NOW} as now
    from runs r join threads t on t.thread_id = r.thread_id where r.run_id = ${ended.run_id}`);
  if (!row || row.started_at === null) return;
  const { thread_metadata, ...run } = decryptJsonColumns(
    tx.cipher,
    parseJsonColumns(row, ['metadata', 'thread_metadata']),
    {
      kwargs: 'runs.kwargs',
      error: 'runs.error',
    },
  );
  const { webhook, temporary } = run.kwargs;
  if (typeof webhook !== 'string') return;
  const values =
    temporary && !rules.stateless_values ? null : await valuesOf(tx, run.thread_id, ended.values);
  await enqueueDelivery(tx, {
    kind: 'run',
    url: webhook,
    body: payload(run, ended, values),
    sent_at_field: 'webhook_sent_at',
    run_id: run.run_id,
    thread_id: run.thread_id,
    // Of the thread, not of the run: that is what the client asked for.
    metadata: thread_metadata,
  });
}

async function valuesOf(
  tx: Transaction,
  thread_id: string,
  values: EndedRun['values'],
): Promise<string | null> {
  if (values !== 'kept') return values;
  const row = await tx.get<{ value: string }>(
    sql`select value from thread_values where thread_id = ${thread_id}`,
  );
  return row ? tx.cipher.decryptJson('thread_values.value', row.value) : null;
}

/** The run as a client sees it, when it ran and what came of it (CONTRACT §6). */
function payload(
  { started_at, error, now, ...run }: Omit<Row, 'thread_metadata'>,
  ended: EndedRun,
  values: string | null,
): string {
  const { at = now } = ended;
  const failure = error ?? ended.error;
  const body = toJson({
    ...run,
    status: ended.status,
    updated_at: at,
    langsmith_session_name: null,
    run_started_at: started_at,
    run_ended_at: at,
    ...(failure && { error: failure }),
  });
  // The values are JSON text already, and may be large.
  return `${body.slice(0, -1)},"values":${values ?? 'null'}}`;
}
