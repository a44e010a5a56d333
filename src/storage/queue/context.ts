import type { Db } from '../../db/db.ts';
import type { RevisionRule } from '../../extensions/deployments/canary.ts';
import type { Riders } from '../riders.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import type { ClaimRules } from './claim-fairly.ts';
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
  /** The rule of now, if more than one revision executes runs; absent where there is only one. */
  readonly revisionRule?: (() => RevisionRule | undefined) | undefined;
}
