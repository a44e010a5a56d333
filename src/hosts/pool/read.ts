import { HostLost } from '../../core/errors.ts';
import { every } from '../../core/timers.ts';
import { untilLost } from './ask.ts';
import type { Host } from './host.ts';
import type { Work } from './host-choice.ts';
import type { HostPool } from './pool.ts';

/** A host that has not answered within this time may be blocked, ms. */
const LATE_MS = 1000;

/**
 * Has the host of the thread answer, and a second one as well if a run blocks or ends the first: for what may be done twice.
 * Not if the request itself does so: it would do it to the second one too.
 */
export async function readFrom<T>(pool: HostPool, work: Work, read: (host: Host) => Promise<T>): Promise<T> {
  const host = await pool.take(work);
  const second = Promise.withResolvers<T>();
  let isAsked = false;
  const askSecond = (other: Host) => {
    isAsked = true;
    second.resolve(untilLost(other, read(other)));
  };
  using _late = every(LATE_MS, () => {
    if (isAsked || !host.isBlockedByRun) return;
    const other = pool.find({ ...work, except: host });
    if (other) askSecond(other);
  });
  const first = untilLost(host, read(host)).catch(async (error: unknown) => {
    if (!(error instanceof HostLost) || (await host.ended).is_outside_runs) throw error;
    if (!isAsked) askSecond(await pool.take({ ...work, except: host }));
    return second.promise;
  });
  // Awaited, or the timer would end now.
  return await Promise.race([first, second.promise]);
}
