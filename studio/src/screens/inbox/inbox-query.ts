import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';
import { hoursFromNow } from '../../api/values.ts';
import { pendingInterruptIds } from '../interrupts/answer.ts';

export type Waiting = Schemas['PendingInterrupt'];

type InterruptSearch = Schemas['InterruptSearchRequest'];

/** Filters of the list, as in the address. */
export interface InboxFilters {
  readonly assistant?: string;
  /** Owner of the thread. */
  readonly owner?: string;
  /** Minimum age, hours. */
  readonly age?: string;
  /** Latest deadline, hours from now. 0: overdue. */
  readonly due?: string;
}

/** Page size. Questions are up to 32 kB in this list; 25 of 10 kB stay below 300 kB. */
const PAGE = 25;

/** Open questions of all threads, oldest first. They change with threads, hence the key. */
export function interruptsQuery({ assistant, owner, age, due }: InboxFilters) {
  return infiniteQueryOptions({
    queryKey: ['thread', 'list', { interrupts: { assistant, owner, age, due } }],
    queryFn: ({ pageParam }) => {
      const body: InterruptSearch = { limit: PAGE, sort_order: 'asc' };
      if (assistant) body.assistant_id = assistant;
      if (owner) body.thread_metadata = { owner };
      const since_to = age ? hoursFromNow(-Number(age)) : undefined;
      if (since_to !== undefined) body.since_to = since_to;
      const deadline_to = due ? hoursFromNow(Number(due)) : undefined;
      if (deadline_to !== undefined) body.deadline_to = deadline_to;
      if (pageParam) body.cursor = pageParam;
      return pageOf(api.POST('/interrupts/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** Interrupt ids are unique only within a thread, so the key has both ids. */
export const keyOf = ({ thread_id, interrupt_id }: Linked): string => `${thread_id}.${interrupt_id}`;

/** A question known only from the address, or with all fields of the list. */
export type Linked = Pick<Waiting, 'thread_id' | 'interrupt_id'> & Partial<Pick<Waiting, 'since' | 'value'>>;

/** Inverse of `keyOf`. Undefined for any other text. */
export function linkedBy(key: string): Linked | undefined {
  const [, thread_id, interrupt_id] = /^([\da-f-]{36})\.([\w-]+)$/.exec(key) ?? [];
  return thread_id && interrupt_id ? { thread_id, interrupt_id } : undefined;
}

/** Whether a question is still open. */
export const waitsQuery = ({ thread_id, interrupt_id }: Linked) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'waits', interrupt_id],
    queryFn: async () => (await pendingInterruptIds(thread_id)).includes(interrupt_id),
  });
