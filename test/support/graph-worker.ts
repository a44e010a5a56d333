import type { Db } from '../../src/db/db.ts';
import { runCheckpointer } from '../../src/graphs/checkpointer/open.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import type { Run, RunKwargs } from '../../src/schemas/runs.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import { executingWorker } from './executing-worker.ts';
import { KWARGS, newRun, request } from './queued-runs.ts';
import { scriptedGraph } from './scripted-graph.ts';

/** A worker that executes a graph of LangGraph in this process, with checkpoints. */
export function graphWorker(db: Db, graph: object) {
  const runtime = langGraph('g', graph as never, import.meta.dirname);
  const registry = { ...scriptedGraph(async function* () {}), get: async () => runtime };
  const checkpoints = checkpointRepository(db);
  const worker = executingWorker(db, registry, {}, () => ({
    takenAnswers: checkpoints.takenAnswers,
    memory: (writes, lease, options) => ({
      checkpointer: runCheckpointer({ checkpoints, writes, lease, record: 'off', ...options }),
      store: undefined,
    }),
  }));
  return {
    ...worker,
    /** Enqueues a run on a thread. */
    async submit(thread_id: string, kwargs: Partial<RunKwargs>): Promise<Run> {
      const config = { configurable: { thread_id, graph_id: 'g' } };
      const run = { ...newRun(thread_id), kwargs: { ...KWARGS, resumable: true, config, ...kwargs } };
      await worker.queue.enqueue(request(run));
      worker.bus.emit('run.ready');
      return run;
    },
  };
}
