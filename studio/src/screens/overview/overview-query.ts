import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';

/** The state of the whole server; for callers without limits. */
export const overviewQuery = queryOptions({
  queryKey: ['system', 'overview'],
  queryFn: () => dataOf(api.GET('/system/overview')),
});
