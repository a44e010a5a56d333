import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';

export type Waiting = Schemas['PendingInterrupt'];

const PAGE = 50;

/** What waits for a person, over all threads, oldest first. It changes with the threads, hence the key. */
export function interruptsQuery(assistant_id?: string) {
  return infiniteQueryOptions({
    queryKey: ['thread', 'list', { interrupts: assistant_id }],
    queryFn: ({ pageParam }) =>
      pageOf(
        api.POST('/interrupts/search', {
          body: {
            limit: PAGE,
            sort_order: 'asc',
            ...(assistant_id && { assistant_id }),
            ...(pageParam && { cursor: pageParam }),
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** Threads ask independently of each other: only both ids tell interrupts apart. */
export const keyOf = ({ thread_id, interrupt_id }: Waiting): string => `${thread_id}.${interrupt_id}`;
