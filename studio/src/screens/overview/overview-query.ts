import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';

/** State of the whole server. Needs an unrestricted caller. */
export const overviewQuery = queryOptions({
  queryKey: ['system', 'overview'],
  queryFn: () => dataOf(api.GET('/system/overview')),
});
