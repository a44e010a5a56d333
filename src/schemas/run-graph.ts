import { z } from 'zod';
import { GraphDrawing } from './assistants.ts';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';

/** The compiled graph of a run, drawn from the currently loaded code. */
export const RunGraph = z.object({
  run_id: Uuid,
  /** The assistant as it was when the run was created. */
  assistant_name: z.string(),
  assistant_version: z.int(),
  graph_id: z.string(),
  /** When that code was loaded. */
  loaded_at: Timestamp,
  /** The deployment revision of that code; `null` outside of deployments. */
  revision_id: Uuid.nullable(),
  /** The revision that executed the last attempt of the run; `null` if it is not known, and outside of deployments. */
  run_revision_id: Uuid.nullable(),
  /** The revision that the thread stays with; `null` if it moves to each new one. */
  thread_revision_id: Uuid.nullable(),
  ...GraphDrawing.shape,
});
export type RunGraph = z.infer<typeof RunGraph>;

nameResponses({ RunGraph });

interface Executors {
  /** Of this process. */
  readonly own: string | undefined;
  /** Of the last attempt of the run. */
  readonly of_run: string | null;
  /** Of the thread. */
  readonly of_thread: string | null;
}

/** Executors under the names of the API, where those that share a queue are revisions of a deployment. */
export function executors({ own, of_run, of_thread }: Executors) {
  return { revision_id: own ?? null, run_revision_id: of_run, thread_revision_id: of_thread };
}
