import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { inUtc } from '../../core/clock.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { pickFields } from '../../core/pick-fields.ts';
import type { RunFilter, RunSearch, RunSummary, RunSummaryField } from '../../schemas/run-search.ts';
import type { RunConditions } from '../../storage/runs/run-list.ts';
import type { RunSearchRepository } from '../../storage/runs/search.ts';
import type { Keyset } from '../../storage/search/keyset-page.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { type CursorPage, cursorOf, isTimestamp, positionOf } from '../pagination.ts';

export type RunSearchService = ReturnType<typeof runSearchService>;

/** Name of the list in its cursors. */
const LIST = 'runs';

/** Runs over all threads that the caller may see. */
export function runSearchService(runs: RunSearchRepository, assistants: AssistantService) {
  /** Throws `InvalidInput` for a condition that cannot be met on this server. */
  function conditionsOf(filter: RunFilter): RunConditions {
    const { status, assistant_id, error, created_from, created_to, ended_from, ended_to, ...others } = filter;
    if (error !== undefined && runs.encrypts_errors) throw new InvalidInput(ERRORS_ENCRYPTED);
    return {
      ...others,
      error,
      statuses: typeof status === 'string' ? [status] : status,
      assistant_id: assistant_id === undefined ? undefined : assistants.requireId(assistant_id),
      created_from: inUtc(created_from),
      created_to: inUtc(created_to),
      ended_from: inUtc(ended_from),
      ended_to: inUtc(ended_to),
    };
  }

  return {
    /** Newest first. Throws `InvalidInput` for a foreign cursor and for conditions that cannot be met. */
    async search(actor: Actor, query: RunSearch): Promise<CursorPage<Partial<RunSummary>>> {
      const { limit, cursor, select, with_removed } = query;
      const conditions = conditionsOf(query);
      const after = cursor === undefined ? undefined : keysetOf(cursor);
      const visibility = await authorize(actor, 'threads:search', { ...query });
      const { found, next } = await runs.search(
        // The thread that would tell who may see a removed run is deleted.
        { ...conditions, after, limit, select, with_removed: with_removed && !visibility },
        visibility,
      );
      return {
        items: found.map((run) => pickFields(run, select ?? FIELDS)),
        next: next && cursorOf(LIST, [next.at, next.id]),
      };
    },

    async count(actor: Actor, filter: RunFilter): Promise<number> {
      const conditions = conditionsOf(filter);
      return runs.count(conditions, await authorize(actor, 'threads:search', { ...filter }));
    },
  };
}

/** Fields returned without `select`. */
const FIELDS: readonly RunSummaryField[] = [
  'run_id',
  'thread_id',
  'assistant_id',
  'status',
  'metadata',
  'multitask_strategy',
  'created_at',
  'updated_at',
  'started_at',
  'ended_at',
  'cancel_reason',
  'error',
  'waiting',
  'removed',
];

const ERRORS_ENCRYPTED =
  'error: this server encrypts errors, so their text cannot be searched. Search by "status" and read the "error" of the runs found.';

function keysetOf(cursor: string): Keyset {
  const isValid = ([at, id, ...more]: readonly string[]) =>
    isTimestamp(at) && isUuid(id ?? '') && more.length === 0;
  const [at, id] = positionOf(LIST, cursor, isValid);
  return { at: at as string, id: id as string };
}
