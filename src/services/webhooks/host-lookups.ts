import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { ResolveHost } from './webhook-policy.ts';

/** Where host names are looked up. */
export interface NameSources {
  /** The names that this machine gives by itself, as in `/etc/hosts`; `undefined` for any other. */
  readonly local: (hostname: string) => Promise<readonly string[] | undefined>;
  /** Asks the name servers. Takes no thread, and stops at abort. Rejects with the `code` of the resolver. */
  readonly query: (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Domains in which an unknown name is looked up, too. */
  readonly searchDomains: () => Promise<readonly string[]>;
}

/** The caller's deadline passed: the name servers did not answer. */
class HostLookupTimeout extends Error {
  readonly code = 'ETIMEOUT';
}

/**
 * Looks up names that clients chose, all at once and each until its own deadline: a name whose server is slow delays no
 * other. Ruled out: `getaddrinfo`, which libuv runs two at a time; a name server that never answers occupies one for ten
 * seconds or more, and anyone may register such a name.
 */
export function hostLookups({ local, query, searchDomains }: NameSources): ResolveHost {
  async function resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const known = await local(hostname);
    if (known) return known;
    let unknown: unknown;
    for (const name of await candidates(hostname)) {
      signal.throwIfAborted();
      try {
        return await query(name, signal);
      } catch (error) {
        if (!isUnknown(error)) throw error;
        unknown ??= error;
      }
    }
    throw unknown;
  }

  async function candidates(hostname: string): Promise<string[]> {
    if (hostname.endsWith('.')) return [hostname];
    return [hostname, ...(await searchDomains()).map((domain) => `${hostname}.${domain}`)];
  }

  return async (hostname, wait_ms) => {
    const ended = new AbortController();
    try {
      return await withDeadline(wait_ms, resolve(hostname, ended.signal));
    } catch (error) {
      throw error instanceof DeadlineExceeded ? new HostLookupTimeout(error.message) : error;
    } finally {
      ended.abort();
    }
  };
}

function isUnknown(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
