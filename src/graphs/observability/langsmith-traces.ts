import { withDeadline } from '../../core/timers.ts';
import { importUserModule } from '../project/user-module.ts';
import { skipUnusedRuns } from './untraced-runs.ts';

/** Deadline for sending the last traces at shutdown, ms. */
const FLUSH_MS = 3000;

/** The LangSmith client shared by all tracers of a project's copy of LangChain. */
interface TraceClient {
  blockOnRootRunFinalization: boolean;
  awaitPendingTraceBatches?(): Promise<unknown>;
}

/** Traces sent to LangSmith. */
export interface LangSmithTraces {
  /** Sends pending traces. Always resolves, after some seconds at the latest. */
  flush(): Promise<void>;
}

/** Traces of the project's runs; `undefined` if it is not traced, which then costs nothing. */
export async function openTraces(
  folder: string,
  isTracingEnabled: () => boolean,
): Promise<LangSmithTraces | undefined> {
  if (isTracingEnabled()) return traceInBackground(folder);
  await skipUnusedRuns(folder, isTracingEnabled);
  return undefined;
}

/**
 * Sends traces in the background. Callbacks are awaited here, which makes LangChain block a run until its trace has
 * arrived: while LangSmith was unreachable, runs never ended. Returns `undefined` if the project has no tracer.
 */
async function traceInBackground(folder: string): Promise<LangSmithTraces | undefined> {
  const module = importUserModule<{ LangChainTracer: new () => { client: TraceClient } }>(
    folder,
    '@langchain/core/tracers/tracer_langchain',
  );
  // A tracer that cannot be constructed, for instance because of a wrong variable, reports that in each run.
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
