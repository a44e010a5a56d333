import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { inUtc } from '../../core/clock.ts';
import { isUuid } from '../../core/ids.ts';
import { toJson } from '../../core/json.ts';
import { pickFields } from '../../core/pick-fields.ts';
import {
  type InterruptAnswer,
  type InterruptAnswerSearch,
  type InterruptFilter,
  type InterruptSearch,
  MAX_VALUE_BYTES,
  type PendingInterrupt,
} from '../../schemas/interrupts.ts';
import type { Keyset } from '../../storage/search/keyset-page.ts';
import type { InterruptAnswerRepository } from '../../storage/threads/interrupt-answers.ts';
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
  readonly interruptAnswers: InterruptAnswerRepository;
  readonly assistants: AssistantService;
}

export type InterruptService = ReturnType<typeof interruptService>;

/** Names of the lists in their cursors. */
const LIST = 'interrupts';
const ANSWERS = 'interrupt_answers';

/** Pending interrupts and past answers of all threads that the caller may see. */
export function interruptService({ interrupts, interruptAnswers, assistants }: InterruptDeps) {
  function assistantId(assistant_id: string | undefined): string | undefined {
    return assistant_id === undefined ? undefined : assistants.requireId(assistant_id);
  }

  function conditionsOf({ thread_metadata, assistant_id, ...filter }: InterruptFilter): InterruptConditions {
    return {
      thread_metadata,
      assistant_id: assistantId(assistant_id),
      since_from: inUtc(filter.since_from),
      since_to: inUtc(filter.since_to),
      deadline_from: inUtc(filter.deadline_from),
      deadline_to: inUtc(filter.deadline_to),
    };
  }

  return {
    /** Ordered by the time since they have been pending. Throws `InvalidInput` for a foreign cursor. */
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

    /** Ordered by the time of the answer. Throws `InvalidInput` for a foreign cursor. */
    async searchAnswers(
      actor: Actor,
      query: InterruptAnswerSearch,
    ): Promise<CursorPage<Partial<InterruptAnswer>>> {
      const { limit, cursor, select, sort_order: order, ...filter } = query;
      const conditions = {
        thread_metadata: filter.thread_metadata,
        thread_id: filter.thread_id,
        interrupt_id: filter.interrupt_id,
        assistant_id: assistantId(filter.assistant_id),
        user_id: filter.user_id,
        created_from: inUtc(filter.created_from),
        created_to: inUtc(filter.created_to),
      };
      const after = cursor === undefined ? undefined : answerPositionIn(cursor);
      const visibility = await authorize(actor, 'threads:search', { ...query });
      const { found, next } = await interruptAnswers.search(
        { ...conditions, order, after, limit },
        visibility,
      );
      return {
        items: found.map((each) => pickFields(each, select)),
        next: next && cursorOf(ANSWERS, [next.at, next.id]),
      };
    },

    async count(actor: Actor, filter: InterruptFilter): Promise<number> {
      const conditions = conditionsOf(filter);
      return interrupts.count(conditions, await authorize(actor, 'threads:search', { ...filter }));
    },
  };
}

/** Omits a large value, to bound the size of a page. */
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

function answerPositionIn(cursor: string): Keyset {
  const isValid = ([at, id, ...more]: readonly string[]) =>
    isTimestamp(at) && id !== undefined && more.length === 0;
  const [at, id] = positionOf(ANSWERS, cursor, isValid) as [string, string];
  return { at, id };
}

function positionIn(cursor: string): InterruptPosition {
  const isValid = ([at, id, interrupt_id, ...more]: readonly string[]) =>
    isTimestamp(at) && isUuid(id ?? '') && interrupt_id !== undefined && more.length === 0;
  const [at, id, interrupt_id] = positionOf(LIST, cursor, isValid) as [string, string, string];
  return { at, id, interrupt_id };
}
