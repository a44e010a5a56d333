import { z } from 'zod';
import type { ProcessLoad } from '../../core/process-load.ts';

/** As `ProcessLoad`: of the event loop since the answer before. */
const Load = z.object({
  recent: z.number(),
  average: z.number(),
  window_ms: z.number(),
  heap_bytes: z.number(),
  heap_limit_bytes: z.number(),
  rss_bytes: z.number(),
}) satisfies z.ZodType<ProcessLoad>;

/** Methods of a host that report what it does. */
export const LOAD_METHODS = {
  /** Whether the host has time for more runs. Answered by the event loop: a late answer means that it has no time. */
  load: { params: z.object({}), result: Load },
} as const;
