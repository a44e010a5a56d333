import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';

export const keysQuery = queryOptions({
  queryKey: ['key', 'list'],
  queryFn: () => dataOf(api.GET('/keys')),
});

/** Names of keys by their ids, if they are needed and the caller may list them; keys without a name have an empty one. */
export function useKeyNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const { isOperator } = useSession();
  const { data: keys = [] } = useQuery({ ...keysQuery, enabled: isNeeded && isOperator });
  return new Map(keys.map(({ key_id, name }) => [key_id, name ?? '']));
}
