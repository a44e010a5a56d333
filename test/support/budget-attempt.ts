import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/db.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { BudgetMeter } from '../../src/storage/runs/budget-meter.ts';
import { type BudgetSubjects, budgetRepository } from '../../src/storage/runs/budgets.ts';
import type { UsageAccount } from '../../src/storage/runs/usage.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { modelCall } from './model-call.ts';
import { queueStory, WORKER } from './queued-runs.ts';

export const NOON = Date.parse('2026-03-01T12:00:00Z');
/** The day of `NOON`. */
export const TODAY = '2026-03-01';

/** A worker executes the run that is ready; what its buffer stores is charged to `subjects`. */
export async function attemptOf(db: Db, subjects: BudgetSubjects, now = () => NOON, account?: UsageAccount) {
  const { queue } = queueStory(db);
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed as ClaimedRun;
  const meter = new BudgetMeter({ run_id: lease.run_id, subjects }, now);
  meter.open(await budgetRepository(db).used(subjects, TODAY, lease.run_id));
  const failures: unknown[] = [];
  const writes = new WriteBuffer(db, lease, {
    budget: meter,
    ...(account && { usage: { account, costOf: () => null } }),
    onCommitted: () => {},
    onError: (error) => failures.push(error),
  });
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
