import { writeSync } from 'node:fs';
import { threadMonotonic } from '../../core/clock.ts';
import { tryOrUndefined } from '../../core/failure.ts';
import { readSharedLease } from '../../core/shared-lease.ts';
import { after } from '../../core/timers.ts';
import { LEASE_FD } from '../protocol/descriptors.ts';

/** Interval at which a lease is looked for that there is not yet, ms. */
const NONE_YET_MS = 1000;

export interface LeaseWatch {
  /** Runs that execute here. */
  readonly runs: () => number;
  /** Asks them to stop; the event loop may be blocked. */
  readonly stopRuns: () => void;
}

/**
 * From a thread of its own: stops the runs of this process before the lease of its server ends, and ends the process with it
 * if there were any. A frozen server cannot report it, and another process then continues its runs.
 */
export function watchLease({ runs, stopRuns }: LeaseWatch): void {
  let hadRuns = false;
  const look = () => {
    const lease = tryOrUndefined(() => readSharedLease(LEASE_FD));
    if (!lease) return void after(NONE_YET_MS, look);
    const now = threadMonotonic();
    if (now < lease.stop_at) {
      hadRuns = false;
      return void after(lease.stop_at - now, look);
    }
    if (now < lease.end_at) {
      hadRuns ||= runs() > 0;
      if (hadRuns) stopRuns();
      return void after(lease.end_at - now, look);
    }
    if (hadRuns || runs() > 0) endProcess();
    // Its server may renew it at any time.
    after(NONE_YET_MS, look);
  };
  look();
}

function endProcess(): void {
  writeSync(2, 'the lease of the server expired: its runs stop, and the graph host exits\n');
  process.kill(process.pid, 'SIGKILL');
}
