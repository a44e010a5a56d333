import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { timestamp } from '../../core/clock.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { Latch } from '../../core/latch.ts';
import type { Frame } from '../../events/frame.ts';
import { LOG_LEVELS, type LogsQuery } from '../../schemas/run-logs.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import { COMMIT_DELAY_MS, type LogBatch } from '../../storage/runs/newest-logs.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AssistantService } from '../assistants/assistants.ts';

/** Interval at which a follower looks for new lines, ms. */
const POLL_MS = 500;
/** Batches of lines read at once. */
const PAGE = 500;
/** Before every run. */
const FIRST_RUN = '00000000-0000-0000-0000-000000000000';

export interface NewestLogDeps {
  readonly newestLogs: Storage['newestLogs'];
  readonly assistants: Pick<AssistantService, 'idOf'>;
}

export type NewestLogService = ReturnType<typeof newestLogService>;

type Conditions = Pick<LogsQuery, 'assistant_id'>;

/** What the code of all runs prints. */
export function newestLogService({ newestLogs, assistants }: NewestLogDeps) {
  /** The batches that were stored since, but for those that were seen. */
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
    const pause = new Latch();
    const levels = new Set<string>(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
    const conditions = { assistant_id };
    let newest = (await newestLogs.newestTime()) ?? timestamp(0);
    let seen = new Set<string>();
    for await (const { batch } of batchesSince(before(newest), seen, conditions, visibility))
      seen.add(keyOf(batch));
    yield { seq: 0, event: 'ready', data: '{}' };
    while (!signal.aborted) {
      await pause.wait(POLL_MS, signal);
      const current = new Set<string>();
      for await (const { batch, isNew } of batchesSince(before(newest), seen, conditions, visibility)) {
        current.add(keyOf(batch));
        if (batch.created_at > newest) newest = batch.created_at;
        if (!isNew) continue;
        for (const line of batch.lines)
          if (levels.has(line.level)) yield { seq: 0, event: 'log', data: JSON.stringify(line) };
      }
      seen = current;
    }
  }

  return {
    /** Lines of all runs that the actor may read, from now on until `signal`: events `log` after a first `ready`. */
    async follow(actor: Actor, query: LogsQuery, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
      const { assistant_id: named } = query;
      const assistant_id = named === undefined ? undefined : requireUuid(assistants.idOf(named));
      const visibility = await authorize(actor, 'threads:search', {});
      return frames({ ...query, assistant_id }, visibility, signal);
    },
  };
}

function requireUuid(assistant_id: string): string {
  if (isUuid(assistant_id)) return assistant_id;
  throw new InvalidInput(
    `assistant_id: ${JSON.stringify(assistant_id)} is neither a graph nor the id of an assistant.`,
  );
}

function keyOf({ run_id, seq }: LogBatch): string {
  return `${run_id}/${seq}`;
}

/** From when lines may still appear. */
function before(time: string): string {
  return timestamp(Math.max(0, Date.parse(time) - COMMIT_DELAY_MS));
}
