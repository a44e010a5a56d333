import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { tryOrUndefined } from '../../core/failure.ts';
import { every } from '../../core/timers.ts';
import { HostStatus } from '../protocol/watch.ts';

/** Interval of pings, ms: how late the server learns that an event loop is blocked, on top of what counts as blocked. */
const PING_MS = 250;
/**
 * Pings in a row without an answer after which a host counts as frozen. Not before its first answer: until then it starts,
 * which takes long on a busy machine.
 */
const MAX_SILENT = 40;

export interface WatchOptions {
  readonly onStatus: (status: HostStatus) => void;
  /** Called when not even the watch thread answers. */
  readonly onFrozen: () => void;
}

/** The server's end of the watch; ends when disposed. */
export interface HostWatch extends Disposable {
  /** Has the host stop these sessions of runs before they begin another step, also if its event loop is blocked. */
  stopRuns(sessions: readonly number[]): void;
}

/**
 * Asks a host's watch thread for its status until disposed. Counted are pings, not time: a machine that was suspended
 * has sent none.
 */
export function watchHost(link: Socket, { onStatus, onFrozen }: WatchOptions): HostWatch {
  let silent = 0;
  let hasStarted = false;
  const timer = every(PING_MS, () => {
    if (hasStarted) silent += 1;
    if (silent > MAX_SILENT) return onFrozen();
    link.write('ping\n');
  });
  // The end of the process is noticed elsewhere.
  const lines = createInterface(link).on('error', () => {});
  lines.on('line', (line) => {
    const { data } = HostStatus.safeParse(tryOrUndefined(() => JSON.parse(line)));
    if (!data) return;
    silent = 0;
    hasStarted = true;
    onStatus(data);
  });
  return {
    stopRuns: (sessions) => void link.write(`stop ${sessions.join(' ')}\n`),
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      link.destroy();
    },
  };
}
