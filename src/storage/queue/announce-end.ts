import type { Transaction } from '../../db/db.ts';
import { recordCronRunEnd } from '../crons/crons.ts';
import { type EndedRun, enqueueRunEnd, type RunWebhookRules } from '../webhooks/run-ended.ts';

/** Who may want to know of a run's end. */
export interface Announced {
  /** The run may have a webhook; false saves the search for it. */
  readonly has_webhook?: boolean;
  /** A cron may have created the run. */
  readonly of_cron?: boolean;
}

/** Part of the transaction that ends a run, while its row exists: its webhook, and the history of its cron. */
export async function announceEnd(
  tx: Transaction,
  ended: EndedRun,
  webhooks: RunWebhookRules,
  { has_webhook = false, of_cron = false }: Announced,
): Promise<void> {
  if (has_webhook) await enqueueRunEnd(tx, ended, webhooks);
  if (of_cron && ended.status !== 'rollback') recordCronRunEnd(tx, ended.run_id, ended.status);
}
