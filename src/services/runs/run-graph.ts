import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type { GraphSchema, Subgraphs } from '../../schemas/assistants.ts';
import { executors, type RunGraph } from '../../schemas/run-graph.ts';
import { graphIdOf } from '../../schemas/runs.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { withLegacyNames } from '../assistants/assistant-graphs.ts';
import { callerConfigurable } from './run-options.ts';

export interface RunGraphDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly graphs: GraphRegistry;
  readonly clock: Clock;
  /** Whose code this process runs, where several executors share a queue. */
  readonly executor_id?: string | undefined;
}

export type RunGraphService = ReturnType<typeof runGraphService>;

type RunIds = Readonly<Record<'thread_id' | 'run_id', string>>;

/**
 * Graphs of runs, with the configuration and context that the run was created with, from the assistant's version at that
 * time. All methods throw `NotFound` for a run that the actor cannot see, and the errors of `GraphRegistry`. Create it
 * when the project's code is loaded: the time becomes `loaded_at`.
 */
export function runGraphService({ runs, threads, graphs, clock, executor_id }: RunGraphDeps) {
  const loaded_at = timestamp(clock.now());

  async function open(actor: Actor, { thread_id, run_id }: RunIds) {
    const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
    const found = await runs.getWithAgent(thread_id, run_id, visibility);
    if (!found) throw new NotFound('Run not found');
    const { config, context } = found.run.kwargs;
    const graph_id = graphIdOf(found.run.kwargs);
    // A factory acts for who reads, not for who created the run.
    const configurable = { ...config.configurable, ...callerConfigurable(actor.user) };
    const graph = await graphs.get(graph_id, { ...config, configurable }, 'assistants.read', context);
    return { ...found, graph_id, graph };
  }

  return {
    /** Nodes and edges; `xray` as for assistants. */
    async draw(actor: Actor, ids: RunIds, xray: boolean | number): Promise<RunGraph> {
      const { agent, graph_id, graph, executor_id: of_run } = await open(actor, ids);
      const of_thread = (await threads.executorOf(ids.thread_id)) ?? null;
      return {
        ...(await graph.draw(xray)),
        ...agent,
        ...{ run_id: ids.run_id, graph_id, loaded_at },
        ...executors({ own: executor_id, of_run, of_thread }),
      };
    },

    async schemas(actor: Actor, ids: RunIds): Promise<GraphSchema> {
      const { graph } = await open(actor, ids);
      return await graph.schemas();
    },

    /** Schemas of the subgraphs by namespace, of subgraphs in them too if `recurse`. */
    async subgraphs(actor: Actor, ids: RunIds, recurse: boolean): Promise<Subgraphs> {
      const { graph } = await open(actor, ids);
      return withLegacyNames(await graph.subgraphs(undefined, recurse));
    },
  };
}
