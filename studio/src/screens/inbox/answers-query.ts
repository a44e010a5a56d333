import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, pageOf, type Schemas } from '../../api/client.ts';
import type { InboxFilters, Linked } from './inbox-query.ts';

export type Answer = Schemas['InterruptAnswer'];

type AnswerSearch = Schemas['InterruptAnswerSearchRequest'];

/** Page size, as for questions: each entry has a question and an answer. */
const PAGE = 25;

/** Answers of all threads, newest first. They change with threads, hence the key. */
export function answersQuery({ assistant, owner }: Pick<InboxFilters, 'assistant' | 'owner'>) {
  return infiniteQueryOptions({
    queryKey: ['thread', 'list', { answers: { assistant, owner } }],
    queryFn: ({ pageParam }) => {
      const body: AnswerSearch = { limit: PAGE };
      if (assistant) body.assistant_id = assistant;
      if (owner) body.thread_metadata = { owner };
      if (pageParam) body.cursor = pageParam;
      return pageOf(api.POST('/interrupts/answers/search', { body }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** The answer to a question. Null if there is none, for example if its thread was changed or deleted. */
export const answerQuery = ({ thread_id, interrupt_id, since }: Linked) =>
  queryOptions({
    queryKey: ['thread', thread_id, 'answer', interrupt_id],
    queryFn: async (): Promise<Answer | null> => {
      const body: AnswerSearch = { thread_id, interrupt_id, limit: 1 };
      // A task that asks again keeps its id.
      if (since !== undefined) body.created_from = since;
      const [answer] = await dataOf(api.POST('/interrupts/answers/search', { body }));
      return answer ?? null;
    },
  });
