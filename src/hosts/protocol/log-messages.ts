import { z } from 'zod';
import { WireErrorSchema } from './errors.ts';
import { Json, Session } from './wire-types.ts';

const Level = z.enum(['debug', 'info', 'warn', 'error']);

/** An `OutputLine`. */
const OutputLine = z.object({
  /** Epoch ms. */
  time: z.number(),
  level: Level,
  message: z.string(),
  source: z.enum(['console', 'stdout', 'stderr', 'logger']),
  node: z.string().optional(),
  /** `file:line:column` in the project. */
  at: z.string().optional(),
  /** JSON object. */
  fields: Json.optional(),
});

/** Methods of the server: lines for its log. */
export const LOG_SERVER_METHODS = {
  /** What the code of a run printed; the server adds what it knows of the run. */
  'run/output': {
    params: z.object({
      session: Session,
      run_id: z.string().nullable(),
      lines: z.array(OutputLine),
      /** Number of lines before these that were dropped. */
      dropped: z.number().int().nonnegative(),
    }),
  },
  log: {
    params: z.object({
      level: Level,
      message: z.string(),
      /** JSON object. */
      fields: Json,
      /** Fields that hold an error. */
      errors: z.record(z.string(), WireErrorSchema),
    }),
  },
} as const;
