import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import { asSentence } from '../../core/text.ts';
import type { EndedRunView, QueuedRun, ThreadExplanation } from '../../schemas/thread-explanation.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { ThreadQueueRow } from '../../storage/queue/thread-queue.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { type ExplainDeps, queuedRunSummary } from '../runs/run-explain.ts';

export interface ThreadExplainDeps extends Omit<ExplainDeps, 'runs'> {
  readonly threads: ThreadRepository;
}

/** Runs listed in an explanation. */
const MAX_RUNS = 100;
/** Interrupt ids named in the sentence. */
const MAX_NAMED = 3;

const UNFINISHED =
  'Its history is not completely imported. If the import was interrupted, send it again with "if_exists": "do_nothing", or delete the thread.';

export type ThreadExplainService = ReturnType<typeof threadExplain>;

/** Explains a thread's status as a sentence and as fields. */
export function threadExplain(deps: ThreadExplainDeps) {
  const { threads, queue } = deps;
  return {
    /** Throws `NotFound` for a missing thread and for one that the actor may not read. */
    async explain(actor: Actor, thread_id: string): Promise<ThreadExplanation> {
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      const thread = await threads.get(thread_id, ['status', 'interrupts', 'error'], visibility);
      if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
      const [{ runs, n_runs }, last_run = null, isUnfinished] = await Promise.all([
        queue.ofThread(thread_id, MAX_RUNS),
        queue.lastEndedOn(thread_id),
        threads.hasUnfinishedImport(thread_id),
      ]);
      const interrupts = pendingInterrupts(thread);
      const queued = runs.map((run, i) => queuedRun(run, runs[i - 1]));
      const [first] = queued;
      return {
        thread_id,
        // Read after the thread: a run may have begun or ended in between.
        status: first ? 'busy' : thread.status,
        summary: first
          ? await busySummary(actor, deps, { thread_id, run_id: first.run_id }, n_runs)
          : isUnfinished
            ? UNFINISHED
            : restingSummary(thread.status, { interrupts, last_run }),
        runs: queued,
        n_runs,
        interrupts,
        last_run,
        error: thread.error ?? null,
      };
    },
  };
}

type PendingInterrupt = ThreadExplanation['interrupts'][number];

function pendingInterrupts({ interrupts = {} }: Thread): PendingInterrupt[] {
  return Object.entries(interrupts).flatMap(([task_id, list]) =>
    list.map((interrupt) => ({ ...interrupt, task_id })),
  );
}

function queuedRun(row: ThreadQueueRow, before: ThreadQueueRow | undefined): QueuedRun {
  const { run_id, attempt, cancel_action } = row;
  const state = stateOf(row);
  const behind = state === 'waiting' && before ? before.run_id : null;
  return { run_id, state, behind, due_at: row.not_before, attempt, cancel_action };
}

function stateOf({ state }: ThreadQueueRow): QueuedRun['state'] {
  switch (state) {
    case 'running':
    case 'ready':
      return state;
    case 'blocked':
      return 'waiting';
    case 'scheduled':
      return 'delayed';
  }
}

async function busySummary(
  actor: Actor,
  deps: ThreadExplainDeps,
  run: { readonly thread_id: string; readonly run_id: string },
  n_runs: number,
): Promise<string> {
  const { run_id } = run;
  const position = await deps.queue.position(run_id);
  const why = position ? ` ${await queuedRunSummary(actor, deps, run, position)}` : ' It has just ended.';
  const more = n_runs - 1;
  const others = more === 0 ? '' : ` ${more} more ${more === 1 ? 'run is' : 'runs are'} queued after it.`;
  return `Busy with run ${run_id}.${why}${others}`;
}

/** No run is in the queue. */
function restingSummary(
  status: Thread['status'],
  { interrupts, last_run }: { interrupts: readonly PendingInterrupt[]; last_run: EndedRunView | null },
): string {
  switch (status) {
    // Its last run has just ended.
    case 'busy':
    case 'idle':
      return `Idle: ${lastRunSummary(last_run)}`;
    case 'interrupted':
      return `Interrupted: ${interruptSummary(interrupts)}`;
    case 'error':
      return `Error: ${lastRunSummary(last_run)} A new run starts from the last checkpoint.`;
  }
}

function lastRunSummary(run: EndedRunView | null): string {
  if (!run) return 'none of its runs has ended, or the last one was deleted.';
  const { run_id, status, ended_at, error } = run;
  const reason = error ? `: ${error.error}: ${error.message}` : '';
  return asSentence(`its last run ${run_id} ended at ${ended_at} with status ${status}${reason}`);
}

function interruptSummary(interrupts: readonly PendingInterrupt[]): string {
  if (interrupts.length === 0)
    return 'its graph stopped before the end. Create a run with "input": null to continue it.';
  const ids = interrupts.flatMap(({ id }) => id ?? []);
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  const named = ids.length === 0 ? '' : ` (${ids.slice(0, MAX_NAMED).join(', ')}${more})`;
  const waiting = interrupts.length === 1 ? 'an interrupt waits' : `${interrupts.length} interrupts wait`;
  return `${waiting} for an answer${named}. Create a run with "command": {"resume": …} to answer.`;
}
