import type { Logger } from '../core/logger.ts';
import { Loop } from './loop.ts';

const SWEEP_MS = 60_000;
/** Rows dropped in one transaction: others must not wait for it. */
const BATCH = 200;

/** Drops up to so many rows that nobody needs any more; how many. */
export type Sweep = (limit: number) => Promise<number>;

/** Drops what is kept for a while only, such as the event logs of runs that ended long enough ago. */
export function retentionLoop({ sweeps, logger }: { sweeps: readonly Sweep[]; logger: Logger }): Loop {
  return new Loop({
    name: 'retention',
    logger,
    async tick() {
      let isMore = false;
      // One that fails does not keep the others from theirs; it is tried again with the next round.
      for (const sweep of sweeps) {
        try {
          isMore = (await sweep(BATCH)) === BATCH || isMore;
        } catch (error) {
          logger.error('cannot delete expired rows', { error });
        }
      }
      return isMore ? 0 : SWEEP_MS;
    },
  });
}
