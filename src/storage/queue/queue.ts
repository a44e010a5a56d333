import { bind } from '../../db/bind.ts';
import type { Db } from '../../db/db.ts';
import { idempotentRuns } from '../idempotency.ts';
import { Riders } from '../riders.ts';
import { DEFAULT_WEBHOOK_RULES } from '../webhooks/run-ended.ts';
import { cancelRuns, findInFlight, inFlightOnThread } from './cancel.ts';
import { claim, hasReady, isMoreReady } from './claim.ts';
import type { Fairness } from './claim-fairly.ts';
import type { QueueContext } from './context.ts';
import { deleteRun } from './delete-run.ts';
import { enqueue, enqueueAll } from './enqueue.ts';
import { finish } from './finish.ts';
import { fireCron, triggerCron } from './fire-cron.ts';
import { heartbeat } from './heartbeat.ts';
import { countLost } from './lost-batch.ts';
import { executorsWaitedFor } from './placement.ts';
import { ownerShare, queuePosition, runTimes, workerCapacity } from './position.ts';
import { nextDue, promoteDue } from './promote.ts';
import { deleteExpiredWorkers, reap } from './reap.ts';
import { requeue, requeueUnknown } from './requeue.ts';
import { runLogFields } from './run-log-fields.ts';
import { queueCounts, queueStats } from './stats.ts';
import { lastEndedRun, threadQueue } from './thread-queue.ts';
import { deleteAllWorkers, deregister, heldLeases, isOnlyWorker } from './workers.ts';

export type RunQueue = ReturnType<typeof runQueue>;

export type QueueOptions = Partial<Omit<QueueContext, 'db' | 'turn'>>;

const FIRST_COME: Fairness = { fair_by: 'none' };

/** The queue's verbs over one database, each in the file of its name. */
export function runQueue(
  db: Db,
  {
    webhooks = DEFAULT_WEBHOOK_RULES,
    report = () => {},
    fairness = FIRST_COME,
    placement,
    riders = new Riders([idempotentRuns]),
  }: QueueOptions = {},
) {
  return {
    ...bind(
      { db, webhooks, report, fairness, placement, riders, turn: { last_owner: '', claims: 0 } },
      {
        enqueue,
        enqueueAll,
        fireCron,
        triggerCron,
        claim,
        finish,
        requeue,
        requeueUnknown,
        countLost,
        cancel: cancelRuns,
        promoteDue,
        reap,
        ownerShare,
      },
    ),
    ...bind(db, {
      inFlight: findInFlight,
      inFlightOn: inFlightOnThread,
      deleteRun,
      deleteExpiredWorkers,
      hasReady,
      isMoreReady,
      nextDue,
      executorsWaitedFor,
      stats: queueStats,
      counts: queueCounts,
      logFields: runLogFields,
      position: queuePosition,
      runTimes,
      ofThread: threadQueue,
      lastEndedOn: lastEndedRun,
      workerCapacity,
      heartbeat,
      deregister,
      deleteAllWorkers,
      heldLeases,
      isOnlyWorker,
    }),
  };
}
