import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import { isObject } from '../../api/values.ts';

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

/** Runs of the thread among which the answer is looked for: it was sent a moment ago. */
const NEWEST_RUNS = 10;

/** The run that answered a question; null if none of the thread's newest did. */
export const answerQuery = ({ thread_id, interrupt_id, since }: Waiting) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'answer', interrupt_id],
    queryFn: async () => {
      const select = ['run_id' as const, 'assistant_id' as const, 'created_at' as const, 'kwargs' as const];
      const params = { path: { thread_id }, query: { limit: NEWEST_RUNS, select } };
      const runs = await dataOf(api.GET('/threads/{thread_id}/runs', { params }));
      const later = runs.filter((run) => Date.parse(run.created_at) >= Date.parse(since));
      return later.find(({ kwargs }) => isAnswer(kwargs, interrupt_id)) ?? null;
    },
    // Of a thread that was deleted there is none.
    retry: false,
  });

/** An answer may name the question, or be for the only one. */
function isAnswer(kwargs: unknown, interrupt_id: string): boolean {
  const { command } = isObject(kwargs) ? kwargs : {};
  if (!isObject(command) || command['resume'] === undefined) return false;
  const { resume } = command;
  const ids = isObject(resume) ? Object.keys(resume).filter((key) => INTERRUPT_ID.test(key)) : [];
  return ids.length === 0 || ids.includes(interrupt_id);
}

const INTERRUPT_ID = /^[\da-f]{32}$/;
