import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type { RunGraph } from '../../schemas/run-graph.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { callerConfigurable, graphIdOf } from './run-options.ts';

export interface RunGraphDeps {
  readonly runs: Pick<RunRepository, 'getWithAgent'>;
  readonly threads: Pick<ThreadRepository, 'revisionOf'>;
  readonly graphs: Pick<GraphRegistry, 'get'>;
  readonly clock: Clock;
  /** Revision whose code this process runs; absent outside of deployments. */
  readonly revision_id?: string | undefined;
}

export type RunGraphService = ReturnType<typeof runGraphService>;

/** Draws the graphs of runs. Create it when the project's code is loaded: the time becomes `loaded_at`. */
export function runGraphService({ runs, threads, graphs, clock, revision_id }: RunGraphDeps) {
  const loaded_at = timestamp(clock.now());
  return {
    /**
     * Draws the graph with the configuration and context that the run was created with, from the assistant's
     * version at that time. `xray` as for assistants. Throws `NotFound` for a run that the actor cannot see,
     * and the errors of `GraphRegistry`.
     */
    async draw(
      actor: Actor,
      { thread_id, run_id }: { readonly thread_id: string; readonly run_id: string },
      xray: boolean | number,
    ): Promise<RunGraph> {
      const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
      const found = await runs.getWithAgent(thread_id, run_id, visibility);
      if (!found) throw new NotFound('Run not found');
      const { run, agent, revision_id: run_revision_id } = found;
      const { config, context } = run.kwargs;
      const graph_id = graphIdOf(run.kwargs);
      const thread_revision_id = (await threads.revisionOf(thread_id)) ?? null;
      // A graph factory acts for the reader, not for the creator of the run.
      const configurable = { ...config.configurable, ...callerConfigurable(actor.user) };
      const graph = await graphs.get(graph_id, { ...config, configurable }, 'assistants.read', context);
      return {
        ...(await graph.draw(xray)),
        ...agent,
        ...{ run_id, graph_id, loaded_at, revision_id: revision_id ?? null },
        ...{ run_revision_id, thread_revision_id },
      };
    },
  };
}
