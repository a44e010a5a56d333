import { isFinal, NEXT_STATUS } from '../../src/services/runs/transitions.ts';
import { type Facts, type RunFacts, violations } from './invariants.ts';
import type { Operation } from './scheduler.ts';
import { EMPTY, type QueuedRun, type Snapshot, type StoredRun } from './snapshot.ts';

type State = QueuedRun['state'] | 'absent';

/** Where a run's place in the queue may go with one commit. */
const NEXT_STATE: Readonly<Record<State, readonly State[]>> = {
  absent: ['scheduled', 'blocked', 'ready'],
  scheduled: ['blocked', 'ready', 'absent'],
  blocked: ['ready', 'absent'],
  ready: ['running', 'absent'],
  running: ['ready', 'absent'],
};

/** Verbs that take a run away without its thread: at a client's wish. */
const REMOVE_RUNS = ['enqueue', 'fireCron', 'triggerCron', 'cancel', 'deleteRun', 'damage'];
/** Verbs for which a run that has left the queue must not have been executing. */
const END_WAITING = ['enqueue', 'fireCron', 'triggerCron', 'cancel', 'promoteDue'];
/** Verbs that take any thread away; others only one that a run made for itself, at the end of that run. */
const REMOVE_THREADS = ['delete', 'expire'];
/** Attempts that count, and how many of them in a row without progress end a run. */
const CHARGED = ['worker lost', 'host lost', 'attempt broke'];
export const MAX_ATTEMPTS = 3;
export const EXHAUSTED = 'WorkerLostError';

interface Losses {
  readonly failures: number;
  readonly supersteps: number;
}

/** What is known of all threads and runs, and what may become of them. */
export class Model implements Facts {
  readonly runs = new Map<string, RunFacts>();
  readonly damaged = new Set<string>();
  /** All runs that were ever stored. */
  readonly seen = new Set<string>();
  #now = EMPTY;
  /** Runs that have left the queue. */
  readonly #left = new Set<string>();
  readonly #losses = new Map<string, Losses>();
  /** Since which step each worker has lived without a break. */
  readonly #alive = new Map<string, number>();

  get now(): Snapshot {
    return this.#now;
  }

  /** What is wrong with what an operation has committed. */
  observe(next: Snapshot, by: Operation, at: { readonly step: number; readonly ms: number }): string[] {
    const before = this.#now;
    this.#now = next;
    for (const { run_id } of next.runs) this.seen.add(run_id);
    const wrong = [
      ...violations(next, this),
      ...this.#places(before, next, by),
      ...runs(before, next, by, this),
      ...logs(before, next, this),
      ...ends(before, next, by, this),
    ];
    for (const { worker_id, expires_at } of next.workers) {
      if (Date.parse(expires_at) <= at.ms) this.#alive.delete(worker_id);
      else if (!this.#alive.has(worker_id)) this.#alive.set(worker_id, at.step);
    }
    for (const worker_id of this.#alive.keys()) {
      if (!next.workers.some((worker) => worker.worker_id === worker_id)) this.#alive.delete(worker_id);
    }
    return wrong;
  }

  /** The database crashed, and is as it was some commits ago. */
  restore(snapshot: Snapshot): void {
    this.#now = snapshot;
    for (const { run_id } of snapshot.queue) this.#left.delete(run_id);
  }

  #places(before: Snapshot, next: Snapshot, by: Operation): string[] {
    const wrong: string[] = [];
    const places = new Map(next.queue.map((row) => [row.run_id, row]));
    const old = new Map(before.queue.map((row) => [row.run_id, row]));
    for (const run_id of new Set([...places.keys(), ...old.keys()])) {
      const [was, is] = [old.get(run_id), places.get(run_id)];
      const from: State = was?.state ?? 'absent';
      const to: State = is?.state ?? 'absent';
      if (from !== to && !NEXT_STATE[from].includes(to))
        wrong.push(`run ${run_id} went from ${from} to ${to}`);
      if (!was && this.#left.has(run_id)) wrong.push(`run ${run_id} came back to the queue`);
      if (!is) this.#left.add(run_id);
      if (was?.cancel_action && is && is.cancel_action !== was.cancel_action) {
        wrong.push(`the cancel of run ${run_id} was forgotten`);
      }
      if (from === 'running' && to === 'running' && was?.lease_token !== is?.lease_token) {
        wrong.push(`run ${run_id} was taken from who executes it`);
      }
      if (from === 'running' && to === 'absent' && END_WAITING.includes(by.activity.verb ?? '')) {
        wrong.push(`run ${run_id} was executing, and ${by.activity.verb} took it for one that waits`);
      }
      if (is && to === 'ready' && from !== 'ready' && from !== 'running')
        wrong.push(...promoted(is, next, by));
      if (was && from === 'running' && to !== 'running') wrong.push(...this.#gaveBack(was, is, next, by));
    }
    return wrong;
  }

  /** A run ends for its attempts when so many in a row came to nothing, not before and not after. */
  #gaveBack(was: QueuedRun, is: QueuedRun | undefined, next: Snapshot, by: Operation): string[] {
    const { run_id, worker_id } = was;
    const { verb } = by.activity;
    const wrong: string[] = [];
    const since = this.#alive.get(worker_id as string);
    if (verb === 'reap' && since !== undefined && since <= by.begun) {
      wrong.push(`run ${run_id} was taken from worker ${worker_id}, which lives`);
    }
    const isExhausted = isLost(next.runs.find((run) => run.run_id === run_id));
    if (!isExhausted && !(is && CHARGED.includes(is.retry_reason ?? ''))) return wrong;
    const made = next.checkpoints.filter((checkpoint) => checkpoint.run_id === run_id).length;
    const { failures, supersteps } = this.#losses.get(run_id) ?? { failures: 0, supersteps: 2 };
    const failed = made > supersteps ? 0 : failures + 1;
    this.#losses.set(run_id, { failures: failed, supersteps: Math.max(made, 2) });
    if (isExhausted !== failed >= MAX_ATTEMPTS) {
      wrong.push(`run ${run_id} ${isExhausted ? 'ended' : 'goes on'} after ${failed} failures in a row`);
    }
    return wrong;
  }
}

function isLost(run: StoredRun | undefined): boolean {
  return run?.error?.includes(EXHAUSTED) ?? false;
}

/** First come, first served, among those whose time had come before the verb began. */
function promoted(row: QueuedRun, { queue }: Snapshot, { begun_ms }: Operation): string[] {
  const due = (place: QueuedRun) => Date.parse(place.not_before);
  const earlier = queue.find(
    (other) =>
      other.thread_id === row.thread_id &&
      (other.state === 'blocked' || (other.state === 'scheduled' && due(other) <= begun_ms)) &&
      (due(other) < due(row) || (due(other) === due(row) && other.seq < row.seq)),
  );
  return earlier ? [`run ${row.run_id} went before ${earlier.run_id}`] : [];
}

function runs(before: Snapshot, next: Snapshot, by: Operation, facts: Facts): string[] {
  const { verb = 'write' } = by.activity;
  const wrong: string[] = [];
  const threads = new Set(next.threads.map(({ thread_id }) => thread_id));
  const present = new Map(next.runs.map((run) => [run.run_id, run]));
  for (const { run_id, thread_id, status } of before.runs) {
    const run = present.get(run_id);
    if (!run && threads.has(thread_id) && !REMOVE_RUNS.includes(verb))
      wrong.push(`run ${run_id} is gone by ${verb}`);
    if (run && run.status !== status && !NEXT_STATUS[status].includes(run.status)) {
      wrong.push(`run ${run_id} went from ${status} to ${run.status}`);
    }
  }
  const temporary = new Set(
    [...facts.runs.values()].filter((run) => run.temporary).map((run) => run.thread_id),
  );
  for (const { thread_id } of before.threads) {
    if (threads.has(thread_id) || REMOVE_THREADS.includes(verb) || temporary.has(thread_id)) continue;
    wrong.push(`thread ${thread_id} is gone by ${verb}`);
  }
  return wrong;
}

/** What followers were told stays true: nothing is added behind an end, and no entry changes that was closed. */
function logs(before: Snapshot, next: Snapshot, { damaged }: Facts): string[] {
  const wrong: string[] = [];
  const events = new Map(next.events.map((log) => [log.run_id, log]));
  for (const { run_id, last, ends } of before.events) {
    const log = events.get(run_id);
    if (log && (log.last < last || (ends > 0 && log.last !== last))) {
      wrong.push(`log of run ${run_id} went from ${last} events to ${log.last}, with ${ends} ends`);
    }
  }
  const threads = new Set(next.threads.map(({ thread_id }) => thread_id));
  const entries = new Map(next.log.map((entry) => [entry.thread_id + entry.run_id, entry]));
  for (const { thread_id, run_id, base, length } of before.log) {
    if (!threads.has(thread_id) || damaged.has(run_id)) continue;
    const entry = entries.get(thread_id + run_id);
    if (entry?.base === base && (length === null || entry.length === length)) continue;
    wrong.push(`log entry of run ${run_id} changed from ${base} + ${length}`);
  }
  return wrong;
}

/** Verbs that end what was executed. */
const END_ATTEMPTS = ['finish', 'requeue', 'requeueUnknown', 'reap'];

/** With the end of a run's log come its webhook and the note of its cron: each once, or not at all. */
function ends(before: Snapshot, next: Snapshot, by: Operation, facts: Facts): string[] {
  const ended = new Set(before.events.filter((log) => log.ends > 0).map(({ run_id }) => run_id));
  return next.events
    .filter(({ run_id, ends }) => ends > 0 && !ended.has(run_id))
    .flatMap(({ run_id }) => {
      const run = facts.runs.get(run_id);
      if (!run || facts.damaged.has(run_id)) return [];
      const has = (row: { readonly run_id: string | null }) => row.run_id === run_id;
      const status = next.runs.find(has)?.status;
      const isRolledBack = !status && before.queue.find(has)?.cancel_action === 'rollback';
      const started =
        isRolledBack || [...before.runs, ...next.runs].some((row) => has(row) && row.started > 0);
      const sent = next.webhooks.find(has)?.sent ?? 0;
      const noted = next.fires.find(has)?.status ?? null;
      const wrong = [];
      if (sent !== Number(run.webhook && started)) wrong.push(`run ${run_id} ended with ${sent} webhooks`);
      if (status && !isFinal(status)) wrong.push(`the log of run ${run_id} has ended, and it is ${status}`);
      if (run.cron && status && noted !== status)
        wrong.push(`run ${run_id} ended as ${status}, noted as ${noted}`);
      const isLost = !status && !isRolledBack && END_ATTEMPTS.includes(by.activity.verb ?? '');
      if (run.cron && isLost && noted === null)
        wrong.push(`nobody noted for its cron how run ${run_id} ended`);
      return wrong;
    });
}
