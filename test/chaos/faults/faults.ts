/** A replacement in a source file of the server; `find` occurs there exactly once. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/**
 * Mechanisms switched off, each by what it changes in the sources of a server under test (`apply.ts`): the server itself
 * has no switch for them.
 */
export const FAULTS = {
  'retries begin anew': [
    edit(
      'src/storage/queue/claim.ts',
      'has_checkpoint: checkpoint !== undefined };',
      'has_checkpoint: false };',
    ),
    // LangGraph by itself resumes a run of the same id.
    edit(
      'src/workers/run-attempt.ts',
      'run_attempt: claimed.lease.attempt,',
      'run_attempt: claimed.lease.attempt, run_id: claimed.lease.token,',
    ),
  ],
  'work without a bound': [
    edit('src/schemas/bounds.ts', 'export const MAX_UPDATES = 200;', 'export const MAX_UPDATES = 10_000;'),
    edit(
      'src/storage/search/byte-slices.ts',
      'export const SLICE_BYTES = 4 * 1024 * 1024;',
      'export const SLICE_BYTES = Number.MAX_SAFE_INTEGER;',
    ),
  ],
  'attempts without end': [
    edit(
      'src/storage/queue/end-attempt.ts',
      'failures >= max_attempts || losses >= max_attempts * MAX_LOSSES_FACTOR',
      'max_attempts < 0',
    ),
  ],
  'no fencing token': [
    edit(
      'src/storage/runs/lease.ts',
      'head?.run_id === run_id && head.lease_token === token',
      'head?.run_id === run_id',
    ),
    edit('src/storage/runs/lease.ts', 'and lease_token = $' + '{token}', 'and $' + '{token} <> run_id'),
    edit(
      'src/storage/runs/lease.ts',
      ' and batches >= $' + '{batchSeq} and batches <= $' + '{batchSeq + 1}',
      '',
    ),
    ...isHeldForEver(),
  ],
  'heartbeat on the event loop': [
    edit('src/workers/engine.ts', 'const lease = options.single_process', 'const lease = options.background'),
  ],
  'streams begin anew': [
    edit('src/http/sse.ts', 'return /^\\d{1,15}$/.test(text) ? Number(text)', 'return text ? 0'),
  ],
  'lost commits go unseen': [
    edit(
      'src/storage/runs/lease.ts',
      ' and batches >= $' + '{batchSeq} and batches <= $' + '{batchSeq + 1}',
      '',
    ),
    edit(
      'src/storage/runs/lease.ts',
      'return batch.follows === undefined ||',
      'return batch.follows !== null ||',
    ),
  ],
  'no local deadline': isHeldForEver(),
  'notifications are lost': [
    edit('src/events/shared-bus.ts', 'if (to !== undefined && to !== id) continue;', 'if (name) continue;'),
    edit(
      'src/events/shared-bus.ts',
      'for (const each of updated) this.#local.updated(each);',
      'void updated;',
    ),
  ],
  'no polls': [
    edit(
      'src/workers/runs.ts',
      '{ rare: 1000, usual: 1000, frequent: 250 }',
      '{ rare: 60000, usual: 60000 }',
    ),
    edit('src/events/safety-poll.ts', 'SAFETY_POLL_MS = 500', 'SAFETY_POLL_MS = 60000'),
  ],
  'cancels by notification only': [
    edit(
      'src/workers/runs.ts',
      'else if (lease.cancel_action) stop',
      'else if (lease.cancel_action === 0) stop',
    ),
  ],
  'full disks are bugs': [
    edit('src/db/engines/sqlite-errors.ts', 'if (isDatabaseFull(error)) {', 'if (error === 0) {'),
    edit('src/db/engines/postgres-errors.ts', "if (code === '53100')", "if (code === '0')"),
  ],
  'stops charge an attempt': [edit('src/storage/queue/requeue.ts', 'refund: !charge,', 'refund: false,')],
  'ticks without compare-and-set': [
    edit(
      'src/storage/queue/fire-cron.ts',
      'where cron_id = $' + '{cron_id} and next_run_date = $' + '{tick}`',
      'where cron_id = $' + '{cron_id}`',
    ),
    edit('src/storage/queue/fire-cron.ts', 'return inserted > 0;', 'return inserted >= 0;'),
    // What the schedulers have read is older then, so that they meet.
    edit(
      'src/storage/queue/fire-cron.ts',
      "return await db.transaction('sync', (tx) => fireIn",
      "await new Promise((later) => setTimeout(later, 30));\n    return await db.transaction('sync', (tx) => fireIn",
    ),
  ],
  'webhooks at most once': [
    edit(
      'src/storage/webhooks/claim.ts',
      'update webhook_outbox set token',
      "update webhook_outbox set status = 'delivered', token",
    ),
  ],
  'threads with many heads': [
    edit(
      'src/db/migrations/base/queue.ts',
      'create unique index run_queue_head',
      'create index run_queue_head',
    ),
    edit('src/storage/queue/enqueue.ts', "then 'blocked' else 'ready' end", "then 'ready' else 'ready' end"),
  ],
  'answers before their commit': [
    edit(
      'src/db/engines/group-commit.ts',
      'await turns.yieldIfDue();\n      this.#control.commit.run();',
      `await turns.yieldIfDue();
      this.#complete(completions.splice(0).map((each) => ({ ...each, after_sync: false })));
      await new Promise((later) => setTimeout(later, 100));
      this.#control.commit.run();`,
    ),
  ],
  'no back-pressure': [
    edit(
      'src/http/sse.ts',
      'chunks.write(encode(frame));\n    if (raw.writableNeedDrain) await drained(raw, signal);',
      'chunks.write(encode(frame));',
    ),
  ],
} as const satisfies Record<string, readonly Edit[]>;

export type FaultName = keyof typeof FAULTS;

function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}

/** A process never finds that its own lease has ended. */
function isHeldForEver(): Edit[] {
  const find = 'return threadMonotonic() < this.#memory.held_until - lease_ms * LEASE_MARGIN;';
  return [edit('src/workers/heartbeat.ts', find, 'return lease_ms > 0;')];
}
