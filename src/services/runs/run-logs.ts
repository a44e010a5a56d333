import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Frame } from '../../events/frame.ts';
import type { LiveRuns } from '../../events/writer.ts';
import { MAX_LOG_LINES, type RunLogLine } from '../../schemas/run-logs.ts';
import type { Run } from '../../schemas/runs.ts';
import { numberedLines, type RunLogRepository } from '../../storage/runs/run-logs.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import { PrintedLines } from './printed-lines.ts';
import { isFinal } from './transitions.ts';

/** Interval at which a follower polls for lines that other processes stored, ms. */
const POLL_MS = 500;

export interface RunLogsRequest {
  /** If absent, the newest lines. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface RunLogDeps {
  readonly runs: RunRepository;
  readonly runLogs: RunLogRepository;
  readonly bus: EventBus;
  readonly live: LiveRuns;
}

export type RunLogService = ReturnType<typeof runLogService>;

/** Log lines that the code of a run prints. */
export function runLogService({ runs, runLogs, bus, live }: RunLogDeps) {
  async function find(actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
    const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
    const run = await runs.get(thread_id, run_id, visibility);
    if (!run) throw new NotFound('Run not found');
    return run;
  }

  async function isOver(run_id: string): Promise<boolean> {
    const run = await runs.get(undefined, run_id);
    return !run || isFinal(run.status);
  }

  /** Yields the lines of a run as they are stored, and returns after the last one. */
  async function* follow(
    run_id: string,
    request: RunLogsRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    // Subscribe before the first read: lines that are deleted after it, with their thread, arrive here.
    using printed = new PrintedLines(bus, (batch) => batch.run_id === run_id);
    using _end = bus.onUpdated(run_id, () => {
      if (live.get(run_id)?.isWhole) printed.wake();
    });
    let { after } = request;
    let wasSeenOver = false;
    while (!signal.aborted) {
      // Check first: the last lines are committed together with the end of the run.
      const isSeenOver = await isOver(run_id);
      // The end is committed, but this process publishes its own lines just after, unless it lost the run.
      const mayFollow = live.get(run_id)?.isWhole === false;
      const wasOver = isSeenOver && (wasSeenOver || !mayFollow);
      wasSeenOver = isSeenOver;
      const limit = after === undefined ? request.limit : MAX_LOG_LINES;
      const lines = await runLogs.read(run_id, after, limit);
      const last = lines.at(-1)?.seq ?? after ?? 0;
      // A full page may be followed by more stored lines, which come before these.
      if (lines.length < limit)
        lines.push(
          ...printed
            .take()
            .flatMap(numberedLines)
            .filter(({ seq }) => seq > last),
        );
      after ??= 0;
      for (const line of lines) {
        yield { seq: line.seq, event: 'log', data: JSON.stringify(line) };
        after = line.seq;
      }
      if (lines.length > 0) continue;
      if (wasOver) {
        yield { seq: after, event: 'end', data: '{}' };
        return;
      }
      await printed.wait(POLL_MS, signal);
    }
  }

  return {
    /** Throws `NotFound`. */
    async list(
      actor: Actor,
      thread_id: string | undefined,
      run_id: string,
      { after, limit }: RunLogsRequest,
    ): Promise<RunLogLine[]> {
      await find(actor, thread_id, run_id);
      return runLogs.read(run_id, after, limit);
    },

    /**
     * The same as events: `log` for each line, including future ones, then `end`. Throws `NotFound` before the
     * first event.
     */
    async stream(
      actor: Actor,
      thread_id: string | undefined,
      run_id: string,
      request: RunLogsRequest,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame>> {
      await find(actor, thread_id, run_id);
      return follow(run_id, request, signal);
    },
  };
}
