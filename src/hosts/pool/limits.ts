import type { Host } from './host.ts';

/** Limits beyond which a host is replaced. */
export interface HostLimits {
  /** Bytes; `undefined`: no limit. */
  readonly max_memory_bytes?: number | undefined;
  /** `undefined`: no limit. */
  readonly max_runs?: number | undefined;
}

/** Age, ms: a project that needs more than the limit at rest would be replaced all the time. */
const MIN_AGE_MS = 10_000;

export interface ReachedLimit {
  /** Reason, as a clause for the log. */
  readonly reason: string;
  /** Whether a run may be the cause. */
  readonly charges_runs: boolean;
}

/** Which limit a host has reached. `now`: monotonic, ms. */
export function limitReached(
  { status, started_at, runs }: Host,
  { max_memory_bytes = Number.POSITIVE_INFINITY, max_runs = Number.POSITIVE_INFINITY }: HostLimits,
  now: number,
): ReachedLimit | undefined {
  const isOld = now - started_at > MIN_AGE_MS;
  if (isOld && (status?.rss_bytes ?? 0) > max_memory_bytes)
    return { reason: 'it uses more memory than hosts.max_memory_mb', charges_runs: true };
  if (runs >= max_runs) return { reason: 'it has executed hosts.max_runs runs', charges_runs: false };
  return undefined;
}
