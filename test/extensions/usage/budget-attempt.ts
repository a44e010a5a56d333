import { randomUUID } from 'node:crypto';
import type { Db } from '../../../src/db/db.ts';
import type { UsageCargo } from '../../../src/extensions/usage/account.ts';
import { BudgetMeter } from '../../../src/extensions/usage/budget-meter.ts';
import { usageRider } from '../../../src/extensions/usage/rider.ts';
import {
  type BudgetSubjects,
  type BudgetsUsed,
  budgetRepository,
} from '../../../src/extensions/usage/storage/budgets.ts';
import type { UsageAccount } from '../../../src/extensions/usage/storage/charges.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import { Riders } from '../../../src/storage/riders.ts';
import { WriteBuffer } from '../../../src/storage/runs/write-buffer.ts';
import { modelCall } from '../../support/model-call.ts';
import { type QueueStory, queueStory, WORKER } from '../../support/queued-runs.ts';

export const NOON = Date.parse('2026-03-01T12:00:00Z');
/** The day of `NOON`. */
export const TODAY = '2026-03-01';

/** Threads have a budget, which nobody reaches. */
export const CHARGING = new Riders([
  usageRider({
    budgets: { thread: { max_tokens: 1_000_000_000 } },
    on_budget: 'interrupt',
    currency: 'USD',
    clock: { now: () => NOON, monotonic: () => NOON },
    requested: { max_budget: {}, uncounted: () => undefined },
  }),
]);

export const chargingStory = (db: Db): QueueStory => queueStory(db, { riders: CHARGING });

const NOBODY: UsageAccount = { assistant_id: randomUUID(), user_id: '', key_id: '' };

/** A worker executes the run that is ready; what its buffer stores is charged to `subjects`. */
export async function attemptOf(db: Db, subjects: BudgetSubjects, now = () => NOON, account = NOBODY) {
  const { queue } = chargingStory(db);
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed as ClaimedRun;
  const meter = new BudgetMeter({ run_id: lease.run_id, subjects }, now);
  meter.open(await budgetRepository(db).used(subjects, TODAY, lease.run_id));
  const failures: unknown[] = [];
  const observer = {
    name: 'usage',
    costOf: () => null,
    stepEnded: meter.addStep.bind(meter),
    cargo: (): UsageCargo => ({ account, budget: meter.charge() }),
    committed: (used: unknown) => {
      if (used) meter.charged(used as BudgetsUsed);
    },
  };
  const options = { observer, onCommitted: () => {}, onError: (error: unknown) => void failures.push(error) };
  const writes = new WriteBuffer(db, lease, options, { riders: CHARGING });
  let number = 0;
  return {
    queue,
    lease,
    meter,
    writes,
    /** A superstep with one call of a model, and its checkpoint. */
    async step(tokens: number) {
      number += 1;
      writes.addSteps([modelCall(number, tokens)]);
      meter.addSuperstep();
      await writes.add(async () => {}, 'async');
      await writes.commit();
    },
    [Symbol.dispose]: () => writes[Symbol.dispose](),
  };
}
