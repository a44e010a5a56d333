import { withDeadline } from '../../core/timers.ts';
import { importUserModule } from '../project/user-module.ts';

/** How long the last traces may take at the end of the server, ms. */
const FLUSH_MS = 3000;

/** The client of LangSmith that all tracers of a project's copy of LangChain share. */
interface TraceClient {
  blockOnRootRunFinalization: boolean;
  awaitPendingTraceBatches?(): Promise<unknown>;
}

/** What is traced to LangSmith. */
export interface LangSmithTraces {
  /** Sends what waits. Resolves in any case, at the latest after some seconds. */
  flush(): Promise<void>;
}

/**
 * Sends traces beside the runs. Callbacks are awaited here, and LangChain takes that to mean that a run must wait until
 * its trace has arrived: with LangSmith away it never ended. Undefined where the project has no tracer.
 */
export async function traceInBackground(folder: string): Promise<LangSmithTraces | undefined> {
  const module = importUserModule<{ LangChainTracer: new () => { client: TraceClient } }>(
    folder,
    '@langchain/core/tracers/tracer_langchain',
  );
  // A tracer that cannot be made, by a wrong variable for instance, says so in each run.
  const client = await module
    .then(({ LangChainTracer }) => new LangChainTracer().client)
    .catch(() => undefined);
  if (client === undefined) return undefined;
  client.blockOnRootRunFinalization = false;
  return {
    async flush() {
      await withDeadline(FLUSH_MS, Promise.resolve(client.awaitPendingTraceBatches?.())).catch(() => {});
    },
  };
}
