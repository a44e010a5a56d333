import { queryOptions, useQueries } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

/** Maximum number of threads per request. */
const CHUNK = 50;

type ThreadSearch = Schemas['ThreadSearchRequest'];

/** Titles of threads, by id. Loaded apart from the list, which does not wait for them, and without other metadata. */
const titlesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['thread', ids.toSorted(), 'titles'],
    queryFn: async () => {
      const extract = { title: 'metadata.title' };
      const body: ThreadSearch = { ids: [...ids], limit: ids.length, select: ['thread_id'], extract };
      const found = await dataOf(api.POST('/threads/search', { body }));
      return found.map(({ thread_id, extracted }) => [thread_id, textOf(extracted?.['title'])] as const);
    },
    // A run that moves to another page keeps its title while loading.
    placeholderData: (before) => before,
    staleTime: 60_000,
  });

function textOf(title: unknown): string | undefined {
  return typeof title === 'string' && title !== '' ? title : undefined;
}

/** Titles of the threads of these runs, by id. Missing and not yet loaded ones are left out. */
export function useThreadTitles(
  runs: readonly Schemas['RunSummary'][],
): ReadonlyMap<string, string | undefined> {
  const ids = [...new Set(runs.flatMap(({ thread_id, removed }) => (removed ? [] : (thread_id ?? []))))];
  const chunks = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, n) =>
    ids.slice(n * CHUNK, (n + 1) * CHUNK),
  );
  const answers = useQueries({ queries: chunks.map(titlesQuery) });
  return new Map(answers.flatMap(({ data = [] }) => data));
}
