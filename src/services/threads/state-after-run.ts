import { isDeepStrictEqual } from 'node:util';
import { NotFound } from '../../core/errors.ts';
import { isServerInterrupt } from '../../core/interrupt-ids.ts';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { EndedWithoutState, StoreStateAfterRun } from '../../storage/threads/state-after-run.ts';
import { interruptIds, interruptsOf, threadStatusAfter } from '../runs/transitions.ts';
import { openThreadGraph, type ThreadGraphDeps } from './thread-graph.ts';

export interface StateAfterRunDeps extends ThreadGraphDeps {
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** How long the end of a run waits for code of the project to read its state, ms; that continues. */
const LIMIT_MS = 10_000;

/**
 * A run that ends while no worker holds it leaves its checkpoints, but only its graph can read a state from them: it does
 * so after the transaction that ended the run.
 */
export function stateAfterRun(deps: StateAfterRunDeps): StoreStateAfterRun {
  return async ({ run_id, thread_id, was_refused = false }) => {
    try {
      await withDeadline(LIMIT_MS, storeState(deps, { run_id, thread_id, was_refused }));
    } catch (error) {
      // The thread is deleted, or its graph is no longer configured.
      if (error instanceof NotFound) return;
      deps.logger.warn('cannot store the state that a run left', { run_id, thread_id, error });
    }
  };
}

/** Whether the thread's row has these questions and no other; or one of the server's, which only the row has. */
async function isUpToDate(
  { threads }: StateAfterRunDeps,
  thread_id: string,
  interrupts: Thread['interrupts'],
): Promise<boolean> {
  const ids = interruptIds((await threads.get(thread_id, ['interrupts']))?.interrupts);
  return ids.some(isServerInterrupt) || isDeepStrictEqual(new Set(ids), new Set(interruptIds(interrupts)));
}

async function storeState(deps: StateAfterRunDeps, run: EndedWithoutState): Promise<void> {
  const { threads, bus } = deps;
  // Most runs that end so have never started, and cost no more than this.
  if (!(await threads.lacksState(run))) return;
  const opened = await openThreadGraph(deps, run.thread_id, 'threads.read');
  const state = await opened?.graph.state(opened.config({}), opened.memory, false);
  const checkpoint_id = state?.checkpoint?.checkpoint_id;
  if (!state || !checkpoint_id) return;
  const { values } = state;
  const status = threadStatusAfter('success', state);
  const interrupts = interruptsOf(state);
  if (run.was_refused && (await isUpToDate(deps, run.thread_id, interrupts))) return;
  const after = { values, status, interrupts, checkpoint_id };
  if (await threads.setStateAfterRun(run, after)) bus.emit('row.changed', 'thread', run.thread_id);
}
