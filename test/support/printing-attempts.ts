import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { AttemptLog, DEFAULT_OUTPUT_RULES } from '../../src/workers/attempt-log.ts';
import { type QueueStory, WORKER } from './queued-runs.ts';

export async function claimOne({ queue }: Pick<QueueStory, 'queue'>): Promise<Lease> {
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  return (claimed as ClaimedRun).lease;
}

/** What one attempt prints. */
export function attemptOf(db: Db, lease: Lease, assistant_id: string = randomUUID()) {
  const failures: unknown[] = [];
  const writes = new WriteBuffer(db, lease, {
    onCommitted: () => {},
    onError: (error) => failures.push(error),
  });
  const log = new AttemptLog({
    ...{ logger: silentLogger, fields: {}, lease, assistant_id, writes },
    is_first: lease.attempt === 1,
    rules: DEFAULT_OUTPUT_RULES,
  });
  const print = (message: string, dropped = 0) => {
    const line = { time: systemClock.now(), level: 'info', message, source: 'console' } as const;
    log.add({ lines: [line], dropped });
  };
  return { writes, log, print, failures, [Symbol.dispose]: () => writes[Symbol.dispose]() };
}
