import type { Actor } from '../auth/actor.ts';
import { authorize } from '../auth/authorize.ts';
import type { Ids } from '../core/ids.ts';
import type { RunCreate } from '../schemas/runs.ts';
import type { Visibility } from '../storage/access/visibility.ts';
import type { AssistantService } from './assistants.ts';

export interface RunAccessDeps {
  readonly ids: Ids;
  readonly assistants: Pick<AssistantService, 'idOf'>;
}

/** A run that its actor may make. */
export interface AllowedRun {
  readonly run_id: string;
  /** As the rules left it. */
  readonly input: RunCreate;
  /** Which threads may take it, of those that are there. */
  readonly visibility: Visibility | undefined;
}

/**
 * Asks whether the actor may make this run (CONTRACT §10 `create_run`). Rules see what the client asked for as `kwargs`
 * and may change it, and `metadata` as well. `thread_id` is null for a run that makes its own thread.
 */
export async function allowRun(
  { ids, assistants }: RunAccessDeps,
  actor: Actor,
  thread_id: string | null,
  input: RunCreate,
): Promise<AllowedRun> {
  const run_id = input.run_id ?? ids.uuid7();
  if (actor.rules.length === 0) return { run_id, input, visibility: undefined };
  const { metadata, assistant_id, run_id: _chosen, ...kwargs } = input;
  const { multitask_strategy = 'enqueue', if_not_exists = 'reject', after_seconds = 0 } = input;
  const value = {
    thread_id,
    assistant_id: assistants.idOf(assistant_id),
    run_id,
    status: 'pending',
    metadata: metadata ?? {},
    prevent_insert_if_inflight: multitask_strategy === 'reject',
    multitask_strategy,
    if_not_exists,
    after_seconds,
    kwargs,
  };
  const visibility = await authorize(actor, 'threads:create_run', value);
  return { run_id, input: { ...input, ...value.kwargs, metadata: value.metadata }, visibility };
}
