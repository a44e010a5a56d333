import type { Clock } from '../../core/clock.ts';
import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { ResolveHost } from './webhook-policy.ts';
import { domainOf } from './webhook-url.ts';

interface PendingLookup {
  readonly hostname: string;
  readonly result: PromiseWithResolvers<readonly string[]>;
  /** Callers that still wait for the result. */
  callers: number;
}

interface RecentLookup {
  readonly addresses: readonly string[];
  /** Monotonic ms. */
  readonly expires_at: number;
}

/** How long a result is reused, ms: as short as the DNS TTLs of names that fail over. */
const RECENT_MS = 30_000;
/** Capacity of the caches of names and of domains. */
const MAX_REMEMBERED = 1000;

/** The caller's deadline passed: its lookup was still queued, or the name servers did not answer. */
class HostLookupTimeout extends Error {
  readonly code = 'ETIMEOUT';
}

/**
 * Runs one lookup at a time. libuv gives `getaddrinfo` two threads, and a name server that never answers
 * occupies one for ten seconds or more, even if no caller waits any longer: the other thread stays free for
 * databases and models.
 *
 * So that slow names do not starve the others, callers of the same name share a lookup, a result is reused for
 * 30 s, and names of the domain whose last lookup was fastest come first. A lookup that no caller waits for any
 * more is dropped.
 */
export function oneLookupAtATime(
  lookup: (hostname: string) => Promise<readonly string[]>,
  clock: Clock,
): ResolveHost {
  /** The running lookup and the queued ones, in the order of their first callers. */
  const pending = new Map<string, PendingLookup>();
  const recent = new Map<string, RecentLookup>();
  /** Duration of the last lookup by domain, ms. */
  const durations = new Map<string, number>();
  let running: PendingLookup | undefined;

  function startNext(): void {
    if (running) return;
    let shortest_ms = Number.POSITIVE_INFINITY;
    for (const each of pending.values()) {
      const last_ms = durations.get(domainOf(each.hostname)) ?? 0;
      if (last_ms < shortest_ms) [running, shortest_ms] = [each, last_ms];
    }
    if (running) void run(running);
  }

  async function run({ hostname, result }: PendingLookup): Promise<void> {
    const begun = clock.monotonic();
    try {
      const addresses = await lookup(hostname);
      remember(recent, hostname, { addresses, expires_at: clock.monotonic() + RECENT_MS });
      result.resolve(addresses);
    } catch (error) {
      result.reject(error);
    }
    remember(durations, domainOf(hostname), clock.monotonic() - begun);
    pending.delete(hostname);
    running = undefined;
    startNext();
  }

  function join(hostname: string): PendingLookup {
    const found = pending.get(hostname);
    if (found) return found;
    const added = { hostname, result: Promise.withResolvers<readonly string[]>(), callers: 0 };
    pending.set(hostname, added);
    return added;
  }

  return async (hostname, wait_ms) => {
    const known = recent.get(hostname);
    if (known && known.expires_at > clock.monotonic()) return known.addresses;
    const joined = join(hostname);
    joined.callers += 1;
    startNext();
    try {
      return await withDeadline(wait_ms, joined.result.promise);
    } catch (error) {
      throw error instanceof DeadlineExceeded ? new HostLookupTimeout(error.message) : error;
    } finally {
      joined.callers -= 1;
      if (joined.callers === 0 && joined !== running && pending.get(hostname) === joined) {
        pending.delete(hostname);
      }
    }
  };
}

/** Evicts the oldest entry when there are too many. */
function remember<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > MAX_REMEMBERED && oldest !== undefined) entries.delete(oldest);
}
