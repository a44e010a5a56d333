import { z } from 'zod';

/** What user code executes at: members that are unknown are absent. */
const Place = z.object({
  run_id: z.string().optional(),
  thread_id: z.string().optional(),
  assistant_id: z.string().optional(),
  graph: z.string().optional(),
  attempt: z.number().optional(),
  trace_id: z.string().optional(),
  node: z.string().optional(),
  /** `file:line:column` in the project. */
  at: z.string().optional(),
});

export const HostStatus = z.object({
  /** How long the event loop has not turned, ms. */
  blocked_ms: z.number().nonnegative(),
  /** The same, also below what counts as blocked. */
  late_ms: z.number().nonnegative().optional(),
  /** Counts on while the event loop turns, as far as the watch has noticed. */
  turns: z.number(),
  rss_bytes: z.number().nonnegative(),
  /** Where it is blocked; with `locate`, where it is anyway. */
  place: Place.optional(),
});

/** `what`: such as `called process.exit(3)`. */
export const ExitNote = Place.extend({ what: z.string() });

export type Place = z.infer<typeof Place>;
export type HostStatus = z.infer<typeof HostStatus>;
export type ExitNote = z.infer<typeof ExitNote>;
/** A run, as log fields. */
export type HostedRun = Omit<Place, 'node' | 'at'> & { readonly run_id: string };
