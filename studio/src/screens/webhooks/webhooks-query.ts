import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, pageOf, type Schemas } from '../../api/client.ts';

export type Delivery = Schemas['Delivery'];
type Status = Delivery['status'];

/** Filters of the list, as in the address. */
export interface DeliveryFilters {
  readonly status?: string;
  readonly url?: string;
  readonly run?: string;
}

const PAGE = 50;
/** Page size when loading all matching ids. */
const MAX_PAGE = 1000;

function page({ status, url, run }: DeliveryFilters, offset: number, limit: number) {
  const query = {
    limit,
    offset,
    ...(status ? { status: status as Status } : {}),
    ...(url ? { url } : {}),
    ...(run ? { run_id: run } : {}),
  };
  return pageOf(api.GET('/webhooks/deliveries', { params: { query } }));
}

/** Deliveries, newest first. */
export function deliveriesQuery(filters: DeliveryFilters) {
  return infiniteQueryOptions({
    queryKey: ['delivery', 'list', filters],
    queryFn: ({ pageParam }) => page(filters, pageParam, PAGE),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === undefined ? undefined : Number(next)),
  });
}

/** Ids of all matching dead deliveries, oldest first, the order in which they were due. */
export async function deadDeliveries(filters: DeliveryFilters): Promise<string[]> {
  const ids: string[] = [];
  for (let offset: string | undefined = '0'; offset !== undefined; ) {
    const { data, next } = await page({ ...filters, status: 'dead' }, Number(offset), MAX_PAGE);
    ids.push(...data.map(({ delivery_id }) => delivery_id));
    offset = next;
  }
  return ids.reverse();
}
