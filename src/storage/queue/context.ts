import type { Db } from '../../db/db.ts';
import type { Riders } from '../riders.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import type { ClaimRules } from './claim-fairly.ts';
import type { Placement } from './placement.ts';
import type { RunLogFields } from './run-log-fields.ts';

/** A problem with a single run: the queue logs it and continues. */
export interface QueueProblem extends Partial<RunLogFields> {
  readonly what: 'removed a queue entry without a run' | 'run cannot be recovered' | 'run cannot be promoted';
  readonly thread_id: string;
  readonly error?: unknown;
}

export type QueueReport = (problem: QueueProblem) => void;

/** Dependencies of the queue's verbs. */
export interface QueueContext extends ClaimRules {
  readonly db: Db;
  readonly webhooks: RunWebhookRules;
  readonly riders: Riders;
  readonly report: QueueReport;
  /** The placement of now, if several executors share the queue; absent where there is only one. */
  readonly placement?: (() => Placement | undefined) | undefined;
}
