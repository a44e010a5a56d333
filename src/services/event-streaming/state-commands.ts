import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { JsonObject } from '../../core/json.ts';
import { PROTOCOL_EVENT, PROTOCOL_NOTE } from '../../events/frame.ts';
import type { Namespace, Params } from '../../schemas/event-streaming.ts';
import { graphIdOf } from '../../schemas/runs.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import {
  END_EVENT,
  type Frame,
  isEnd,
  type RunEventRepository,
  type RunOutcome,
} from '../../storage/runs/events.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadStateService } from '../threads/thread-state.ts';
import { CommandError, notFoundAs } from './command-errors.ts';
import { isWithin } from './filter.ts';
import { lifecycleEventOf } from './protocol-events.ts';

export interface StateCommandDeps {
  readonly threadState: ThreadStateService;
  readonly runRows: RunRepository;
  readonly log: RunEventRepository;
}

/** Read-only commands (contract §7). */
export function stateCommands({ threadState, runRows, log }: StateCommandDeps) {
  /** The state of the root graph, or of a subgraph that has one. */
  async function stateOf(actor: Actor, thread_id: string, namespace: Namespace): Promise<ThreadState> {
    const state = await threadState.get(actor, thread_id, { subgraphs: namespace.length > 0 });
    const found = namespace.length === 0 ? state : stateWithin(state, namespace);
    if (found) return found;
    throw new CommandError('no_such_namespace', `There is no graph at namespace ${namespace.join('|')}.`);
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
        select: [...SUMMARISED],
      };
      const list = () => threadState.history(actor, thread_id, query);
      return { checkpoints: (await notFoundAs('no_such_checkpoint', list)).map(summary) };
    },

    /** Graph tree of a run with each graph's status; defaults to the thread's newest run. */
    async tree(actor: Actor, thread_id: string, { run_id }: Params<'agent.getTree'>) {
      const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
      const run = run_id
        ? await runRows.get(thread_id, run_id, visibility)
        : (await runRows.list(thread_id, { limit: 1, offset: 0 }, visibility))[0];
      if (!run) throw new CommandError('no_such_run', 'The thread has no such run.');
      const names = [PROTOCOL_EVENT, PROTOCOL_NOTE].map((prefix) => `${prefix}lifecycle|`);
      const frames = await log.readNamed(run.run_id, [...names, END_EVENT]);
      return { tree: agentTree(graphIdOf(run.kwargs), frames) };
    },
  };
}

function stateWithin(state: ThreadState, namespace: Namespace): ThreadState | undefined {
  for (const task of state.tasks) {
    const below = task.state as ThreadState | null | undefined;
    const path = below?.checkpoint?.checkpoint_ns?.split('|');
    if (!below || !path) continue;
    if (path.length === namespace.length && isWithin(path, namespace)) return below;
    const deeper = stateWithin(below, namespace);
    if (deeper) return deeper;
  }
  return undefined;
}

/** State fields in a summary; excludes values, which may be large. */
const SUMMARISED = ['checkpoint_id', 'created_at', 'metadata'] as const;

function summary({ checkpoint_id, created_at, metadata }: Pick<ThreadState, (typeof SUMMARISED)[number]>) {
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

export interface AgentTree {
  readonly namespace: Namespace;
  status: string;
  readonly graph_name: string;
  children?: AgentTree[];
}

/** Builds the tree of graphs and subgraphs from the lifecycle events in the run's log. */
function agentTree(graph_name: string, frames: readonly Frame[]): AgentTree {
  const root: AgentTree = { namespace: [], status: 'running', graph_name };
  const nodes = new Map<string, AgentTree>([['', root]]);
  for (const frame of frames) {
    if (isEnd(frame)) root.status = String(lifecycleEventOf(JSON.parse(frame.data) as RunOutcome)['event']);
    else record(nodes, root, frame);
  }
  return root;
}

function record(nodes: Map<string, AgentTree>, root: AgentTree, frame: Frame): void {
  const { namespace, data } = JSON.parse(frame.data) as { namespace: string[]; data: Lifecycle };
  const key = namespace.join('|');
  const before = nodes.get(key);
  if (before) {
    before.status = data.event;
    return;
  }
  const node: AgentTree = {
    namespace,
    status: data.event,
    graph_name: data.graph_name ?? (namespace.at(-1) as string),
  };
  nodes.set(key, node);
  const above = nodes.get(namespace.slice(0, -1).join('|')) ?? root;
  above.children ??= [];
  above.children.push(node);
}

interface Lifecycle {
  readonly event: string;
  readonly graph_name?: string;
}
