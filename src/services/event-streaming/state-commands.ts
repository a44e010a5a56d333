import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { JsonObject } from '../../core/json.ts';
import { PROTOCOL_EVENT } from '../../events/frame.ts';
import type { Namespace, Params } from '../../schemas/event-streaming.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import { END_EVENT, type RunEventRepository } from '../../storage/runs/events.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadStateService } from '../thread-state.ts';
import { CommandFailed, missingIs } from './failures.ts';
import { isWithin } from './filter.ts';
import { agentTree } from './tree.ts';

export interface StateCommandDeps {
  readonly threadState: Pick<ThreadStateService, 'get' | 'at' | 'history'>;
  readonly runRows: Pick<RunRepository, 'get' | 'list'>;
  readonly log: Pick<RunEventRepository, 'readNamed'>;
}

/** The commands that only look (CONTRACT §7). */
export function stateCommands({ threadState, runRows, log }: StateCommandDeps) {
  /** The state of the root graph, or of a subgraph that has one. */
  async function stateOf(actor: Actor, thread_id: string, namespace: Namespace): Promise<ThreadState> {
    const state = await threadState.get(actor, thread_id, { subgraphs: namespace.length > 0 });
    const found = namespace.length === 0 ? state : stateWithin(state, namespace);
    if (found) return found;
    throw new CommandFailed('no_such_namespace', `No graph is at ${namespace.join('|')}.`);
  }

  return {
    async get(actor: Actor, thread_id: string, { namespace = [], keys }: Params<'state.get'>) {
      const { values, checkpoint } = await stateOf(actor, thread_id, namespace);
      const wanted = keys && Object.entries(values as JsonObject).filter(([key]) => keys.includes(key));
      return {
        values: wanted ? Object.fromEntries(wanted) : values,
        ...(checkpoint && {
          checkpoint: { id: checkpoint.checkpoint_id, ns: checkpoint.checkpoint_ns ?? '' },
        }),
      };
    },

    /** Newest first. */
    async listCheckpoints(actor: Actor, thread_id: string, params: Params<'state.listCheckpoints'>) {
      const { namespace = [], limit = 10, before } = params;
      const query = {
        limit,
        before: before === undefined ? undefined : { checkpoint_id: before },
        checkpoint: { checkpoint_ns: namespace.join('|') },
      };
      const list = () => threadState.history(actor, thread_id, query);
      return { checkpoints: (await missingIs('no_such_checkpoint', list)).map(summary) };
    },

    /** The graphs of a run, the newest of the thread unless one is named, and how far each has come. */
    async tree(actor: Actor, thread_id: string, { run_id }: Params<'agent.getTree'>) {
      const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
      const run = run_id
        ? await runRows.get(thread_id, run_id, visibility)
        : (await runRows.list(thread_id, { limit: 1, offset: 0 }, visibility))[0];
      if (!run) throw new CommandFailed('no_such_run', 'There is no such run on this thread.');
      const frames = await log.readNamed(run.run_id, [`${PROTOCOL_EVENT}lifecycle|`, END_EVENT]);
      const { configurable } = run.kwargs['config'] as { configurable: { graph_id: string } };
      return { tree: agentTree(configurable.graph_id, frames) };
    },
  };
}

function stateWithin(state: ThreadState, namespace: Namespace): ThreadState | undefined {
  for (const task of state.tasks) {
    const below = task.state as ThreadState | null | undefined;
    const place = below?.checkpoint?.checkpoint_ns?.split('|');
    if (!below || !place) continue;
    if (place.length === namespace.length && isWithin(place, namespace)) return below;
    const deeper = stateWithin(below, namespace);
    if (deeper) return deeper;
  }
  return undefined;
}

function summary({ checkpoint_id, created_at, metadata }: ThreadState) {
  const { step, writes } = (metadata ?? {}) as { step?: number; writes?: unknown };
  const [node_name] = Object.keys((writes ?? {}) as object);
  return {
    id: checkpoint_id,
    timestamp: created_at,
    step: step ?? -1,
    ...(node_name !== undefined && { node_name }),
    ...(metadata && { metadata }),
  };
}
