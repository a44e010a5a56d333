import { type Backoff, backoffMs } from '../../core/backoff.ts';
import type { Clock } from '../../core/clock.ts';
import { isStorageFailure } from '../../core/failure-class.ts';
import type { Logger } from '../../core/logger.ts';
import type { EventBus, PollIntervals } from '../../events/bus.ts';
import { Loop } from '../../workers/loop.ts';
import type { BackgroundLoop } from '../extension.ts';
import { INTERRUPTED_STATE_NAMES } from './state-names.ts';
import type { A2aTaskRepository, A2aTaskRow } from './storage/tasks.ts';

export interface TaskFinalizerDeps {
  readonly tasks: A2aTaskRepository;
  /** Determines and stores the final state of a task whose run ended, and notifies its subscribers. */
  readonly finalize: (row: A2aTaskRow) => Promise<unknown>;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tasks finalized concurrently. */
const BATCH = 16;
/** Poll interval, ms: another process may have ended a run and died before it finalized the task. */
const POLL_MS: PollIntervals = { rare: 30_000, usual: 5_000, frequent: 5_000 };
/** Interval of the scan for superseded tasks, ms: interrupted tasks whose thread has continued. */
const SUPERSEDED_SCAN_MS = 60_000;
/** Back-off for a task that cannot be read, such as one whose graph does not load. */
const RETRIES: Backoff = { first_ms: POLL_MS.usual, longest_ms: 600_000 };

/**
 * Finalizes tasks whose run ended, even if no client requests them: notifies their subscribers, and stores their event
 * artifacts before retention deletes the run's log. The task's row marks it as unfinalized: scanning all tasks on each
 * ended run would cost more the more of them wait.
 */
export function taskFinalizer({ tasks, finalize, bus, clock, logger }: TaskFinalizerDeps): BackgroundLoop {
  const failing = new Map<string, { times: number; until: number }>();
  const endedRuns = new Set<string>();

  async function attempt(row: A2aTaskRow): Promise<void> {
    const { task_id, run_id } = row;
    const earlier = failing.get(run_id);
    if (earlier && earlier.until > clock.monotonic()) return;
    try {
      await finalize(row);
      failing.delete(run_id);
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      const times = (earlier?.times ?? 0) + 1;
      const in_ms = backoffMs(times, RETRIES, () => 0);
      failing.set(run_id, { times, until: clock.monotonic() + in_ms });
      logger.error('cannot read the outcome of a task, retrying', {
        task_id,
        run_id,
        in_ms,
        error,
      });
    }
  }

  async function attemptAll(find: typeof tasks.unfinalized): Promise<Set<string>> {
    const run_ids = new Set<string>();
    for (let page: A2aTaskRow[] | undefined; !page || page.length === BATCH; ) {
      page = await find(page?.at(-1)?.run_id, BATCH);
      for (const { run_id } of page) run_ids.add(run_id);
      await Promise.all(page.map(attempt));
    }
    return run_ids;
  }

  let [poll_at, superseded_scan_at] = [0, 0];
  async function tick(): Promise<number> {
    const run_ids = [...endedRuns].slice(0, BATCH);
    for (const run_id of run_ids) endedRuns.delete(run_id);
    if (run_ids.length > 0) await Promise.all((await tasks.unfinalizedOf(run_ids)).map(attempt));
    if (endedRuns.size > 0) return 0;
    if (clock.monotonic() >= poll_at) {
      poll_at = clock.monotonic() + POLL_MS[bus.poll_rate];
      const unfinalized = await attemptAll(tasks.unfinalized);
      for (const run_id of failing.keys()) if (!unfinalized.has(run_id)) failing.delete(run_id);
    }
    if (clock.monotonic() >= superseded_scan_at) {
      superseded_scan_at = clock.monotonic() + SUPERSEDED_SCAN_MS;
      await attemptAll((after, limit) => tasks.superseded(INTERRUPTED_STATE_NAMES, after, limit));
    }
    return Math.max(0, poll_at - clock.monotonic());
  }

  const loop = new Loop({ name: 'tasks', tick, logger });
  let subscriptions: Disposable[] = [];
  return {
    role: 'worker',
    start() {
      subscriptions = [
        bus.on('run.ended', (run_id) => {
          endedRuns.add(run_id);
          loop.wake();
        }),
        bus.on('reconnected', () => loop.wake()),
      ];
      loop.start();
    },
    stop() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      return loop.stop();
    },
  };
}
