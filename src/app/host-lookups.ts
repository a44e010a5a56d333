import { lookup } from 'node:dns/promises';
import { systemClock } from '../core/clock.ts';
import { oneLookupAtATime } from '../services/webhooks/host-lookups.ts';

/**
 * System resolver, including `/etc/hosts`, for host names from clients. Shared by all servers of the process,
 * because they share its threads.
 */
export const resolveClientHost = oneLookupAtATime(async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}, systemClock);
