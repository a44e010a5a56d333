import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { inUtc } from '../../core/clock.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { toJson } from '../../core/json.ts';
import { pickFields } from '../../core/pick-fields.ts';
import {
  type InterruptFilter,
  type InterruptSearch,
  MAX_VALUE_BYTES,
  type PendingInterrupt,
} from '../../schemas/interrupts.ts';
import type {
  FoundInterrupt,
  InterruptConditions,
  InterruptPosition,
  InterruptRepository,
} from '../../storage/threads/interrupts.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { type CursorPage, cursorOf, isTimestamp, positionOf } from '../pagination.ts';

export interface InterruptDeps {
  readonly interrupts: InterruptRepository;
  readonly assistants: Pick<AssistantService, 'idOf'>;
}

export type InterruptService = ReturnType<typeof interruptService>;

/** Name of the list in its cursors. */
const LIST = 'interrupts';

/** What waits for a person, over all threads that the caller may see. */
export function interruptService({ interrupts, assistants }: InterruptDeps) {
  function conditionsOf({ thread_metadata, assistant_id, ...filter }: InterruptFilter): InterruptConditions {
    const id = assistant_id === undefined ? undefined : assistants.idOf(assistant_id);
    if (id !== undefined && !isUuid(id)) throw new InvalidInput('Invalid assistant ID: must be a UUID');
    return {
      thread_metadata,
      assistant_id: id,
      since_from: inUtc(filter.since_from),
      since_to: inUtc(filter.since_to),
      deadline_from: inUtc(filter.deadline_from),
      deadline_to: inUtc(filter.deadline_to),
    };
  }

  return {
    /** By the time since which they wait. Throws `InvalidInput` for a foreign cursor. */
    async search(actor: Actor, query: InterruptSearch): Promise<CursorPage<Partial<PendingInterrupt>>> {
      const { limit, cursor, select, sort_order: order } = query;
      const conditions = conditionsOf(query);
      const after = cursor === undefined ? undefined : positionIn(cursor);
      const visibility = await authorize(actor, 'threads:search', { ...query });
      const { found, next } = await interrupts.search({ ...conditions, order, after, limit }, visibility);
      return {
        items: found.map((each) => pickFields(pendingInterrupt(each), select)),
        next: next && cursorOf(LIST, [next.at, next.id, next.interrupt_id]),
      };
    },

    async count(actor: Actor, filter: InterruptFilter): Promise<number> {
      const conditions = conditionsOf(filter);
      return interrupts.count(conditions, await authorize(actor, 'threads:search', { ...filter }));
    },
  };
}

/** A large value is left out, so that a page has a bounded size. */
function pendingInterrupt({ interrupt, deadline, ...place }: FoundInterrupt): PendingInterrupt {
  const { id, value, response_schema } = interrupt;
  const value_bytes = Buffer.byteLength(toJson(value ?? null));
  return {
    interrupt_id: id,
    ...place,
    ...(value_bytes <= MAX_VALUE_BYTES ? { value } : {}),
    value_bytes,
    ...(response_schema ? { response_schema } : {}),
    ...(deadline === undefined ? {} : { deadline }),
  };
}

function positionIn(cursor: string): InterruptPosition {
  const isValid = ([at, id, interrupt_id, ...more]: readonly string[]) =>
    isTimestamp(at) && isUuid(id ?? '') && interrupt_id !== undefined && more.length === 0;
  const [at, id, interrupt_id] = positionOf(LIST, cursor, isValid) as [string, string, string];
  return { at, id, interrupt_id };
}
