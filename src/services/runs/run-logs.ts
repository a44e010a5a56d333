import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import { Latch } from '../../core/latch.ts';
import type { Frame } from '../../events/frame.ts';
import { MAX_LOG_LINES, type RunLogLine } from '../../schemas/run-logs.ts';
import type { Run } from '../../schemas/runs.ts';
import type { RunLogRepository } from '../../storage/runs/run-logs.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import { isFinal } from './transitions.ts';

/** Interval at which a follower looks for new lines, ms: they are stored with the steps of a run, not one by one. */
const POLL_MS = 500;

export interface RunLogsRequest {
  /** Without it, the newest lines. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface RunLogDeps {
  readonly runs: Pick<RunRepository, 'get'>;
  readonly runLogs: Pick<RunLogRepository, 'read'>;
}

export type RunLogService = ReturnType<typeof runLogService>;

/** What the code of a run printed. */
export function runLogService({ runs, runLogs }: RunLogDeps) {
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

  /** Yields the lines of a run as they are stored, and returns after its last one. */
  async function* follow(
    run_id: string,
    request: RunLogsRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const pause = new Latch();
    let { after } = request;
    while (!signal.aborted) {
      // Asked first: the last lines are stored together with the end of the run.
      const wasOver = await isOver(run_id);
      const limit = after === undefined ? request.limit : MAX_LOG_LINES;
      const lines = await runLogs.read(run_id, after, limit);
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
      await pause.wait(POLL_MS, signal);
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

    /** Likewise as events: `log` for each line, future ones too, then `end`. Throws `NotFound` before the first. */
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
