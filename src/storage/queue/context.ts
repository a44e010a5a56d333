import type { Db } from '../../db/db.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';

/** Something about a single run that the queue met and went on from; told of in the log. */
export interface QueueProblem {
  readonly what:
    | 'place in the queue without a run removed'
    | 'run cannot be recovered'
    | 'run cannot be promoted';
  readonly run_id?: string;
  readonly thread_id: string;
  readonly error?: unknown;
}

export type QueueReport = (problem: QueueProblem) => void;

/** What the queue's verbs work with. */
export interface QueueContext {
  readonly db: Db;
  readonly webhooks: RunWebhookRules;
  readonly report: QueueReport;
}
