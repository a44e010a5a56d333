import { toJson } from '../../core/json.ts';
import { traceparentOf } from '../../core/trace-ids.ts';
import { columns, text } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { type Parsed, parseJsonColumns } from '../../db/json.ts';
import { type RowOf, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import { enqueueDelivery } from './enqueue.ts';

export interface RunWebhookRules {
  /** False: no webhook is sent when a run ends (`http.disable_webhooks`). */
  readonly enabled: boolean;
  /** Whether webhooks of stateless runs include their values; the official server's do not (contract §6). */
  readonly stateless_values: boolean;
}

export const DEFAULT_WEBHOOK_RULES: RunWebhookRules = { enabled: true, stateless_values: false };

export interface EndedRun {
  readonly run_id: string;
  readonly status: RunStatus | 'rollback';
  /** Used if the run's row has no error. */
  readonly error: RunError | null;
  /** JSON text of the newest state; null if there is none, `kept` for the stored values of the thread. */
  readonly values: string | null | 'kept';
  /** ISO-8601; now by default. */
  readonly at?: string;
}

const RUN = columns(
  'runs',
  `r.run_id, r.thread_id, r.assistant_id, r.metadata, r.kwargs, r.multitask_strategy, r.created_at, r.started_at,
  r.error`,
);
const THREAD_METADATA = columns('threads', 't.metadata as thread_metadata');
const AT = text('now');

/**
 * Part of the transaction that ends a run, while its row exists: enqueues its webhook. Does nothing for a run without a
 * webhook, or one that never started (contract §6).
 */
export async function enqueueRunEnd(tx: Transaction, ended: EndedRun, rules: RunWebhookRules): Promise<void> {
  if (!rules.enabled) return;
  const row = await tx.get(sql`
    select ${RUN}, ${THREAD_METADATA}, ${NOW} as ${AT}
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
    headers: { traceparent: traceparentOf(run.run_id, run.kwargs.config.configurable) },
    run_id: run.run_id,
    thread_id: run.thread_id,
    // The thread's, not the run's: visibility is decided by the thread.
    metadata: thread_metadata,
  });
}

async function valuesOf(
  tx: Transaction,
  thread_id: string,
  values: EndedRun['values'],
): Promise<string | null> {
  if (values !== 'kept') return values;
  const row = await tx.get(
    sql`select ${columns('thread_values', 'value')} from thread_values where thread_id = ${thread_id}`,
  );
  return row ? tx.cipher.decryptJson('thread_values.value', row.value) : null;
}

type DecryptedRun = Parsed<RowOf<typeof RUN>, 'metadata' | 'kwargs' | 'error'> & { readonly now: string };

/** The run as a client sees it, with its times and its error (contract §6). */
function payload(
  { started_at, error, now, ...run }: DecryptedRun,
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
  // Concatenated: the values are JSON text already, and may be large.
  return `${body.slice(0, -1)},"values":${values ?? 'null'}}`;
}

/** `payload` begins with the ids of the run: not parsed, as its input and values may be large. */
const BEGINNING = /^\{"run_id":"[^"]*","thread_id":"[^"]*","assistant_id":"([^"]*)"/;

/** The assistant in the body of a webhook; null if it is not of the end of a run. */
export function assistantIn(body: string): string | null {
  return BEGINNING.exec(body)?.[1] ?? null;
}
