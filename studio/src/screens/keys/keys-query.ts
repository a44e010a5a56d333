import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';

export const keysQuery = queryOptions({
  queryKey: ['key', 'list'],
  queryFn: () => dataOf(api.GET('/keys')),
});
