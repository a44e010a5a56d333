import { bind } from '../../db/bind.ts';
import type { Db } from '../../db/db.ts';
import { DEFAULT_WEBHOOK_RULES } from '../webhooks/run-ended.ts';
import { cancelRuns, findInFlight, inFlightOnThread } from './cancel.ts';
import { claim, isMoreReady } from './claim.ts';
import type { QueueContext } from './context.ts';
import { deleteRun } from './delete-run.ts';
import { enqueue, enqueueAll } from './enqueue.ts';
import { finish } from './finish.ts';
import { fireCron, triggerCron } from './fire-cron.ts';
import { queuePosition, runTimes, workerCapacity } from './position.ts';
import { nextDue, promoteDue } from './promote.ts';
import { reap } from './reap.ts';
import { requeue, requeueUnknown } from './requeue.ts';
import { queueStats } from './stats.ts';
import { deleteAllWorkers, deregister, heartbeat, heldLeases } from './workers.ts';

export type RunQueue = ReturnType<typeof runQueue>;

export interface QueueOptions extends Partial<Omit<QueueContext, 'db'>> {
  /** Database handle for the leases; `db` by default. */
  readonly leases?: Db;
}

/** The queue's verbs over one database, each in the file of its name. */
export function runQueue(
  db: Db,
  { webhooks = DEFAULT_WEBHOOK_RULES, report = () => {}, leases = db }: QueueOptions = {},
) {
  return {
    ...bind(
      { db, webhooks, report },
      {
        enqueue,
        enqueueAll,
        fireCron,
        triggerCron,
        claim,
        finish,
        requeue,
        requeueUnknown,
        cancel: cancelRuns,
        promoteDue,
        reap,
      },
    ),
    ...bind(db, {
      inFlight: findInFlight,
      inFlightOn: inFlightOnThread,
      deleteRun,
      isMoreReady,
      nextDue,
      stats: queueStats,
      position: queuePosition,
      runTimes,
      workerCapacity,
    }),
    ...bind(leases, { heartbeat, deregister, deleteAllWorkers, heldLeases }),
  };
}
