import type { Actor } from '../../auth/actor.ts';
import { unlessGone } from '../../core/errors.ts';
import type { A2aTaskRepository, A2aTaskRow } from '../../storage/a2a/tasks.ts';
import type { ThreadStateService } from '../thread-state.ts';
import type { FactsOf } from './assistant-facts.ts';
import { saidBy, type TaskFacts } from './task-view.ts';

export interface TaskFactsDeps {
  readonly tasks: Pick<A2aTaskRepository, 'turns' | 'lastCheckpoint'>;
  readonly threadState: Pick<ThreadStateService, 'at'>;
  readonly factsOf: FactsOf;
}

export interface FoundFacts extends TaskFacts {
  /** Nobody went on from where the task stands. */
  readonly is_newest: boolean;
}

/** Reads what was said to a task, and what its graph made of it. */
export async function factsOfTask(
  { tasks, threadState, factsOf }: TaskFactsDeps,
  actor: Actor,
  row: A2aTaskRow,
): Promise<FoundFacts> {
  const { thread_id } = row;
  const turns = await tasks.turns(row.task_id);
  const run_ids = turns.map(({ run_id }) => run_id);
  const [last, facts] = await Promise.all([
    tasks.lastCheckpoint(thread_id, run_ids),
    // The assistant may be gone, and its tasks are there.
    factsOf(actor, row.assistant_id).catch(unlessGone),
  ]);
  const at = last && { checkpoint_id: last.checkpoint_id };
  const state = at && (await threadState.at(actor, thread_id, at, {}).catch(unlessGone));
  const said = last?.written.includes('a2a') ? saidBy(state) : {};
  return { row, turns, state, said, outputs: facts?.outputs ?? [], is_newest: last?.is_newest ?? true };
}
