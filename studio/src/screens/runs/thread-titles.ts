import { queryOptions, useQueries } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

/** Threads of one request. */
const CHUNK = 50;

type ThreadSearch = Schemas['ThreadSearchRequest'];

/** Titles of threads, by id: the list does not wait for them, and does not ask for their other metadata. */
const titlesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['thread', 'titles', ids.toSorted()],
    queryFn: async () => {
      const extract = { title: 'metadata.title' };
      const body: ThreadSearch = { ids: [...ids], limit: ids.length, select: ['thread_id'], extract };
      const found = await dataOf(api.POST('/threads/search', { body }));
      return found.map(({ thread_id, extracted }) => [thread_id, textOf(extracted?.['title'])] as const);
    },
    // A run that moves to another page keeps the title of its thread meanwhile.
    placeholderData: (before) => before,
    staleTime: 60_000,
  });

function textOf(title: unknown): string | undefined {
  return typeof title === 'string' && title !== '' ? title : undefined;
}

/** Titles of the threads of these runs, by id; those that have none, or are not known yet, are left out. */
export function useThreadTitles(
  runs: readonly Schemas['RunSummary'][],
): ReadonlyMap<string, string | undefined> {
  const ids = [...new Set(runs.flatMap(({ thread_id }) => thread_id ?? []))];
  const chunks = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, n) =>
    ids.slice(n * CHUNK, (n + 1) * CHUNK),
  );
  const answers = useQueries({ queries: chunks.map(titlesQuery) });
  return new Map(answers.flatMap(({ data = [] }) => data));
}
