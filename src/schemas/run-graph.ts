import { z } from 'zod';
import { GraphDrawing } from './assistants.ts';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';

/** The compiled graph of a run, drawn from the code that is loaded now. */
export const RunGraph = z.object({
  run_id: Uuid,
  /** The assistant as it was when the run was created; `null` if an older server created it. */
  assistant_name: z.string().nullable(),
  assistant_version: z.int().nullable(),
  graph_id: z.string(),
  /** When the code that draws it was loaded. */
  loaded_at: Timestamp,
  /** The revision of the deployment whose code that is; `null` outside of deployments. */
  revision_id: Uuid.nullable(),
  /** The revision that executed the last attempt of the run; `null` if it is not known, and outside of deployments. */
  run_revision_id: Uuid.nullable(),
  /** The revision that the thread stays with; `null` if it goes on with each new one. */
  thread_revision_id: Uuid.nullable(),
  ...GraphDrawing.shape,
});
export type RunGraph = z.infer<typeof RunGraph>;

nameResponses({ RunGraph });
