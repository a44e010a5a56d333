import { z } from 'zod';

/**
 * Besides the connection a host has two pipes. The watch answers each line, `ping` or `locate`, with a `HostStatus` as a
 * line of JSON, from a thread of its own: a blocked event loop is no death. When it closes, the server is gone and the
 * host ends. A host that is about to end itself writes an `ExitNote` to the other.
 */
export const CONNECTION_FD = 3;
export const WATCH_FD = 4;
export const EXIT_NOTE_FD = 5;
/** A file that says until when the lease of the server lasts (`core/shared-lease.ts`); empty without one. */
export const LEASE_FD = 6;

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
