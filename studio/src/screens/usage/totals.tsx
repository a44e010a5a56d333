import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { count, percent } from '../../ui/format.tsx';
import { useMoney } from '../../ui/money.ts';
import { Failure, Loading } from '../../ui/states.tsx';
import { Spark } from '../overview/spark.tsx';
import { tokensOf } from '../runs/run-usage.ts';
import { daysOf, totalQuery, type UsageFilters, type UsageGroup, usageQuery } from './usage-query.ts';

/** The share of what models read that came from the provider's cache; `undefined` if they read nothing. */
export const cacheHits = ({ tokens_in, tokens_cached }: UsageGroup): number | undefined =>
  tokens_in === 0 ? undefined : tokens_cached / tokens_in;

/** The sums of the period, with a bar for each day. */
export function Totals({ filters }: { filters: UsageFilters }) {
  const { data: total, error, refetch } = useQuery(totalQuery(filters));
  const { data: pages } = useInfiniteQuery(usageQuery(filters, 'day'));
  const money = useMoney();
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!total) return <Loading what="the usage" />;
  const byDay = new Map(pages?.pages.flatMap(({ data }) => data).map((group) => [group.day, group]));
  const days = daysOf(filters);
  const of = (i: number) => byDay.get(days[i]);
  const values = (value: (group: UsageGroup) => number) =>
    days.map((_, i) => {
      const group = of(i);
      return group ? value(group) : 0;
    });
  const tokens = tokensOf(total);
  const hits = cacheHits(total);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3 sm:gap-4">
      <Spark
        title="Cost"
        value={money(total.cost)}
        note={`${count(total.calls)} calls of models`}
        values={values(({ cost }) => cost)}
        describe={(i) => `${money(of(i)?.cost ?? 0)} on ${days[i]}`}
        tone="text-accent"
      />
      <Spark
        title="Tokens"
        value={count(tokens)}
        note={`${count(total.tokens_in)} in, ${count(total.tokens_out)} out`}
        values={values(tokensOf)}
        describe={(i) => `${count(of(i) ? tokensOf(of(i) as UsageGroup) : 0)} tokens on ${days[i]}`}
        tone="text-tool"
      />
      <Spark
        title="Prompt-cache hits"
        value={hits === undefined ? '–' : percent(hits)}
        note={`${count(total.tokens_cached)} cached tokens`}
        values={values((group) => cacheHits(group) ?? 0)}
        describe={(i) => `${percent((of(i) && cacheHits(of(i) as UsageGroup)) ?? 0)} on ${days[i]}`}
        tone="text-run"
      />
    </div>
  );
}
