import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { systemClock, timestamp } from '../../core/clock.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Frame } from '../../events/frame.ts';
import { LOG_LEVELS, type LogLine, type LogsQuery } from '../../schemas/run-logs.ts';
import { type Visibility, wasVisible } from '../../storage/access/visibility.ts';
import { COMMIT_DELAY_MS, type LogBatch } from '../../storage/runs/newest-logs.ts';
import { numberedLines, type StoredLines } from '../../storage/runs/run-logs.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { PrintedLines } from './printed-lines.ts';

/** Interval at which a follower polls for lines that no event delivered, ms. */
const POLL_MS = 500;
/** Minimum interval if every batch of lines triggers a poll, ms. */
const MIN_POLL_MS = 250;
/** Batches of lines read at once. */
const PAGE = 500;
/** Sorts before every run id. */
const FIRST_RUN = '00000000-0000-0000-0000-000000000000';

export interface NewestLogDeps {
  readonly newestLogs: Storage['newestLogs'];
  readonly bus: EventBus;
  readonly assistants: AssistantService;
}

export type NewestLogService = ReturnType<typeof newestLogService>;

type Conditions = Pick<LogsQuery, 'assistant_id'>;

/** Log lines that the code of all runs prints. */
export function newestLogService({ newestLogs, bus, assistants }: NewestLogDeps) {
  /** Batches stored since `time`; `isNew` is false for those already seen. */
  async function* batchesSince(
    time: string,
    seen: ReadonlySet<string>,
    conditions: Conditions,
    visibility: Visibility | undefined,
  ): AsyncGenerator<{ batch: LogBatch; isNew: boolean }> {
    let after = { created_at: time, run_id: FIRST_RUN, seq: 0 };
    for (;;) {
      const page = await newestLogs.find({ ...conditions, after, limit: PAGE }, visibility);
      for (const batch of page) yield { batch, isNew: !seen.has(keyOf(batch)) };
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last;
    }
  }

  async function* frames(
    { assistant_id, level }: LogsQuery,
    visibility: Visibility | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const levels = new Set<string>(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
    const framesOf = (lines: readonly LogLine[]): Frame[] =>
      lines
        .filter((line) => levels.has(line.level))
        .map((line) => ({ seq: 0, event: 'log', data: JSON.stringify(line) }));
    const conditions = { assistant_id };
    let polled_at = systemClock.monotonic();
    let due = polled_at + POLL_MS;
    using printed = new PrintedLines(bus, (batch) => {
      if (assistant_id !== undefined && batch.assistant_id !== assistant_id) return false;
      if (visibility === undefined || wasSeenIn(batch, visibility)) return true;
      // Only the database can decide whether this caller may see the lines.
      due = Math.min(due, polled_at + MIN_POLL_MS);
      printed.wake();
      return false;
    });
    let newest = (await newestLogs.newestTime()) ?? timestamp(0);
    let seen = new Set<string>();
    for await (const { batch } of batchesSince(before(newest), seen, conditions, visibility))
      seen.add(keyOf(batch));
    yield { seq: 0, event: 'ready', data: '{}' };
    while (!signal.aborted) {
      await printed.wait(Math.max(0, due - systemClock.monotonic()), signal);
      for (const batch of printed.take()) {
        if (!seen.has(keyOf(batch))) yield* framesOf(linesOf(batch));
        seen.add(keyOf(batch));
      }
      const now = systemClock.monotonic();
      if (now < due) continue;
      polled_at = now;
      due = polled_at + POLL_MS;
      const current = new Set<string>();
      for await (const { batch, isNew } of batchesSince(before(newest), seen, conditions, visibility)) {
        current.add(keyOf(batch));
        if (batch.created_at > newest) newest = batch.created_at;
        if (isNew) yield* framesOf(batch.lines);
      }
      seen = current;
    }
  }

  return {
    /**
     * Streams lines of all runs that the actor may read, from now until `signal` aborts: a `ready` event, then
     * `log` events.
     */
    async follow(actor: Actor, query: LogsQuery, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
      const { assistant_id: named } = query;
      const assistant_id = named === undefined ? undefined : assistants.requireId(named);
      const visibility = await authorize(actor, 'threads:search', {});
      return frames({ ...query, assistant_id }, visibility, signal);
    },
  };
}

function linesOf({ run_id, thread_id, assistant_id, thread_metadata: _, ...batch }: StoredLines): LogLine[] {
  return numberedLines(batch).map((line) => ({ run_id, thread_id, assistant_id, ...line }));
}

/** Whether the actor could see the run's thread, which is deleted when the run ends. */
function wasSeenIn({ thread_id, thread_metadata }: StoredLines, visibility: Visibility): boolean {
  return thread_metadata !== undefined && wasVisible({ thread_id, metadata: thread_metadata }, visibility);
}

function keyOf({ run_id, seq }: Pick<LogBatch, 'run_id' | 'seq'>): string {
  return `${run_id}/${seq}`;
}

/** Earliest time at which lines may still be committed late. */
function before(time: string): string {
  return timestamp(Math.max(0, Date.parse(time) - COMMIT_DELAY_MS));
}
