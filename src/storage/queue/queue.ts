import type { Db } from '../../db/db.ts';
import type { Visibility } from '../access/visibility.ts';
import type { Lease } from '../runs/lease.ts';
import { RUN_WEBHOOKS, type RunWebhookRules } from '../webhooks/run-ended.ts';
import { type Cancellation, cancelRuns, inFlightOf, inFlightOn } from './cancel.ts';
import { type Claim, claim, isMoreReady } from './claim.ts';
import { deleteRun, type ItsCheckpoints } from './delete-run.ts';
import { enqueue, enqueueAll, type NewRun } from './enqueue.ts';
import { finish, type RunEnd } from './finish.ts';
import { type Firing, fireCron, triggerCron } from './fire-cron.ts';
import { standingOf, timesOf, workForce } from './position.ts';
import { nextDue, promoteDue } from './promote.ts';
import { type ReapRules, reap } from './reap.ts';
import type { QueueReport } from './report.ts';
import { type Release, release, releaseUnknown, type UnknownLease } from './requeue.ts';
import { queueFigures } from './stats.ts';
import { forgetWorkers, heartbeat, leave, standings, type Worker } from './workers.ts';

export type RunQueue = ReturnType<typeof runQueue>;

export interface QueueOptions {
  readonly webhooks?: RunWebhookRules | undefined;
  readonly report?: QueueReport | undefined;
  /** Where leases are renewed and looked at, when not where everything else is. */
  readonly leases?: Db | undefined;
}

/** The queue's verbs over one database; each is one transaction, in the file of its name. */
export function runQueue(
  db: Db,
  { webhooks = RUN_WEBHOOKS, report = () => {}, leases = db }: QueueOptions = {},
) {
  return {
    enqueue: (request: NewRun) => enqueue(db, request, webhooks),
    enqueueAll: (requests: readonly NewRun[]) => enqueueAll(db, requests, webhooks),
    fireCron: (firing: Firing) => fireCron(db, firing, webhooks),
    triggerCron: (cron_id: string, run: NewRun, at: string) => triggerCron(db, cron_id, run, at, webhooks),
    claim: (request: Claim) => claim(db, request, webhooks, report),
    isMoreReady: () => isMoreReady(db),
    finish: (lease: Lease, end: RunEnd) => finish(db, lease, end, webhooks),
    release: (lease: Lease, how: Release) => release(db, lease, how, webhooks),
    releaseUnknown: (lease: UnknownLease) => releaseUnknown(db, lease, webhooks),
    cancel: (thread_id: string, run_ids: string[], how: Cancellation) =>
      cancelRuns(db, thread_id, run_ids, how, webhooks),
    inFlight: (status: 'pending' | 'running' | 'all', limit: number, visibility?: Visibility) =>
      inFlightOf(db, status, limit, visibility),
    /** The ids of a thread's runs that wait or execute, first come first. */
    inFlightOn: (thread_id: string) => inFlightOn(db, thread_id),
    deleteRun: (thread_id: string, run_id: string, checkpoints?: ItsCheckpoints, visibility?: Visibility) =>
      deleteRun(db, thread_id, run_id, checkpoints, visibility),
    figures: () => queueFigures(db),
    promoteDue: () => promoteDue(db, report),
    nextDue: () => nextDue(db),
    reap: (rules: ReapRules) => reap(db, rules, webhooks, report),
    heartbeat: (worker: Worker, lease_ms: number) => heartbeat(leases, worker, lease_ms),
    leave: (worker_id: string) => leave(leases, worker_id),
    forgetWorkers: () => forgetWorkers(leases),
    /** Where a run is in the queue; undefined when it is not there. */
    standing: (run_id: string) => standingOf(db, run_id),
    times: (run_id: string) => timesOf(db, run_id),
    workForce: () => workForce(db),
    standings: (worker_id: string) => standings(leases, worker_id),
  };
}
