import type { Clock } from '../../core/clock.ts';
import type { Host } from './host.ts';

/** Age of a host, ms, before its memory counts: a project that needs more at rest would be replaced all the time. */
const MIN_AGE_MS = 10_000;

interface MemoryLimit {
  /** `undefined`: no limit. */
  readonly max_memory_bytes?: number | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Those of these hosts that use more memory than they may. */
export function tooLarge(hosts: readonly Host[], { max_memory_bytes, clock }: MemoryLimit): Host[] {
  if (max_memory_bytes === undefined) return [];
  const now = clock.monotonic();
  return hosts.filter(
    ({ started_at, status }) => now - started_at > MIN_AGE_MS && (status?.rss_bytes ?? 0) > max_memory_bytes,
  );
}
