import { isFinal } from '../../src/services/runs/transitions.ts';
import type { LogEntry, QueuedRun, Snapshot, StoredRun } from './snapshot.ts';

/** What the clients asked for, which no row tells of a run that is gone. */
export interface RunFacts {
  readonly thread_id: string;
  readonly webhook: boolean;
  readonly cron: boolean;
  /** It made its thread for itself. */
  readonly temporary: boolean;
  /** And may leave it behind. */
  readonly keeps: boolean;
}

export interface Facts {
  readonly runs: ReadonlyMap<string, RunFacts>;
  /** Whose row, or the end of whose log, was taken away by hand, as an older version might have left it. */
  readonly damaged: ReadonlySet<string>;
}

/** What is wrong with the rows as they are after a commit. */
export function violations(now: Snapshot, facts: Facts): string[] {
  const runs = new Map(now.runs.map((run) => [run.run_id, run]));
  const queue = new Map(now.queue.map((row) => [row.run_id, row]));
  return [
    ...now.queue.flatMap((row) => ofPlace(row, runs.get(row.run_id), facts)),
    ...ofThreads(now),
    ...now.runs.flatMap((run) => ofRun(run, queue.get(run.run_id), now)),
    ...ofThreadLogs(now, queue, facts),
    ...ofEvents(now, runs, queue, facts),
    ...ofCheckpoints(now, queue),
    ...now.webhooks
      .filter(({ sent }) => sent > 1)
      .map(({ run_id, sent }) => `run ${run_id} has ${sent} webhooks`),
  ];
}

function ofPlace(row: QueuedRun, run: StoredRun | undefined, facts: Facts): string[] {
  const { run_id, state, cancel_action } = row;
  const isRunning = state === 'running';
  const wrong = [];
  if (!run && !(isRunning && cancel_action === 'rollback') && !facts.damaged.has(run_id)) {
    wrong.push(`${state} place of run ${run_id}, which is gone`);
  }
  if (cancel_action && !isRunning) wrong.push(`run ${run_id} is ${state} and cancelled`);
  if (isRunning !== (row.lease_token !== null) || isRunning !== (row.worker_id !== null)) {
    wrong.push(`run ${run_id} is ${state} with lease ${row.lease_token} of worker ${row.worker_id}`);
  }
  const expected = !isRunning ? 'pending' : cancel_action ? 'interrupted' : 'running';
  if (run && run.status !== expected) {
    wrong.push(`run ${run_id} is ${run.status} and its place ${state}, cancel ${cancel_action}`);
  }
  return wrong;
}

function ofThreads({ queue, threads }: Snapshot): string[] {
  const present = new Set(threads.map(({ thread_id }) => thread_id));
  return [...Map.groupBy(queue, ({ thread_id }) => thread_id)].flatMap(([thread_id, rows]) => {
    const heads = rows.filter(({ state }) => state === 'ready' || state === 'running').length;
    const wrong = [];
    if (heads > 1) wrong.push(`thread ${thread_id} has ${heads} heads`);
    if (heads === 0 && rows.some(({ state }) => state === 'blocked')) {
      wrong.push(`thread ${thread_id} has blocked runs and no head`);
    }
    if (!present.has(thread_id)) wrong.push(`thread ${thread_id} is gone, and runs of it are in the queue`);
    return wrong;
  });
}

/** Every run is in one place: it waits or executes in the queue, or has ended, with one end of its log. */
function ofRun({ run_id, status }: StoredRun, row: QueuedRun | undefined, { events }: Snapshot): string[] {
  if (row) return [];
  if (!isFinal(status)) return [`run ${run_id} is ${status} and nowhere in the queue`];
  const ends = events.find((log) => log.run_id === run_id)?.ends ?? 0;
  return ends === 1 ? [] : [`run ${run_id} is ${status} and its log has ${ends} ends`];
}

function ofThreadLogs({ log, events }: Snapshot, queue: Map<string, QueuedRun>, facts: Facts): string[] {
  const wrong: string[] = [];
  const lengths = new Map(events.map(({ run_id, last }) => [run_id, last]));
  const entries = Map.groupBy(log, ({ thread_id }) => thread_id);
  for (const [thread_id, all] of entries) {
    all.forEach((entry, index) => {
      const { run_id, base, length } = entry;
      const before = all[index - 1];
      const expected = before ? before.base + Math.max(before.length ?? 0, 1) : 0;
      if (base !== expected) wrong.push(`log of ${thread_id}: ${run_id} begins at ${base}, not ${expected}`);
      const isLast = index === all.length - 1;
      if (length === null && !isLast) wrong.push(`log of ${thread_id}: ${run_id} is open and not the newest`);
      wrong.push(...ofEntry(entry, queue.has(run_id), lengths.get(run_id), facts.damaged.has(run_id)));
    });
    const ids = new Set(all.map(({ run_id }) => run_id));
    if (ids.size < all.length) wrong.push(`log of ${thread_id}: a run is there twice`);
  }
  return wrong;
}

function ofEntry(
  { run_id, length }: LogEntry,
  isQueued: boolean,
  logged: number | undefined,
  damaged: boolean,
): string[] {
  if (damaged) return [];
  if (length === null) return isQueued ? [] : [`log entry of run ${run_id} is open, and it has ended`];
  if (isQueued) return [`log entry of run ${run_id} is closed, and it goes on`];
  // Of a run that was deleted the numbers stay, the events do not.
  return logged === undefined || logged === length
    ? []
    : [`log entry of run ${run_id} has ${length} events, its log ${logged}`];
}

function ofEvents(
  { events }: Snapshot,
  runs: Map<string, StoredRun>,
  queue: Map<string, QueuedRun>,
  facts: Facts,
): string[] {
  return events.flatMap(({ run_id, events: count, first, last, ends, end, expires }) => {
    const wrong = [];
    if (first !== 1 || last !== count)
      wrong.push(`log of run ${run_id}: ${count} events from ${first} to ${last}`);
    if (ends > 1 || (end !== null && end !== last))
      wrong.push(`log of run ${run_id}: ${ends} ends, at ${end}`);
    if (ends > 0 && queue.has(run_id)) wrong.push(`log of run ${run_id} has an end, and it goes on`);
    if (!facts.runs.has(run_id)) return wrong;
    if (!runs.has(run_id) && !queue.has(run_id) && !expires)
      wrong.push(`nobody will drop the log of run ${run_id}`);
    return wrong;
  });
}

function ofCheckpoints({ checkpoints }: Snapshot, queue: Map<string, QueuedRun>): string[] {
  const wrong: string[] = [];
  const present = new Set(checkpoints.map(({ thread_id, checkpoint_id }) => thread_id + checkpoint_id));
  for (const { thread_id, checkpoint_id, parent_id, run_id } of checkpoints) {
    if (parent_id && !present.has(thread_id + parent_id)) {
      wrong.push(`checkpoint ${checkpoint_id} goes on from ${parent_id}, which is gone`);
    }
    if (run_id && queue.get(run_id)?.cancel_action === 'rollback') {
      wrong.push(`checkpoint ${checkpoint_id} of run ${run_id}, which was rolled back`);
    }
  }
  const ofRuns = checkpoints.filter(({ run_id }) => run_id !== null);
  for (const [run_id, all] of Map.groupBy(ofRuns, ({ run_id }) => run_id)) {
    const inputs = all.filter(({ source }) => source === 'input').length;
    if (inputs > 1) wrong.push(`input of run ${run_id} was applied ${inputs} times`);
    // A root is also what lost its parent to a prune.
    const parents = all.map(({ parent_id }) => parent_id).filter((parent_id) => parent_id !== null);
    if (new Set(parents).size < parents.length)
      wrong.push(`two attempts of run ${run_id} went on from one checkpoint`);
  }
  return wrong;
}
