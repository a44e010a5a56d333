import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { count, duration, percent, plural } from '../../ui/format.tsx';
import { tokensQuery } from './overview-query.ts';
import { Spark } from './spark.tsx';

type Hours = Schemas['SystemOverview']['runs']['hours'];

const NOTE = 'in 24 hours';

/** Runs, failures and latency of the last day by hour, and tokens of two weeks by day. */
export function LastDay({ overview }: { overview: Schemas['SystemOverview'] }) {
  const { hours, ended } = overview.runs;
  const { extensions } = useSession();
  const failed = ended.error + ended.timeout;
  const all = failed + ended.success + ended.interrupted;
  const from = (i: number) =>
    `from ${new Date(hours[i]?.at ?? 0).toLocaleTimeString([], { timeStyle: 'short' })}`;
  const runs = (i: number) => `${count(hours[i]?.ended ?? 0)} ${plural(hours[i]?.ended ?? 0, 'run')}`;
  // The newest runs only were counted.
  const more = ended.since === null ? '' : '+';
  return (
    <div className="grid grid-cols-2 gap-3 sm:gap-4 xl:grid-cols-4">
      <Spark
        title="Runs"
        value={count(all) + more}
        note={`ended ${NOTE}`}
        values={hours.map((hour) => hour.ended)}
        describe={(i) => `${runs(i)} ${from(i)}`}
        tone="text-accent"
      />
      <Spark
        title="Failures"
        value={count(failed) + more}
        note={all === 0 ? NOTE : `of them, ${percent(failed / all)}`}
        values={hours.map((hour) => hour.failed)}
        describe={(i) => `${count(hours[i]?.failed ?? 0)} of ${runs(i)} ${from(i)}`}
        tone="text-err"
      />
      <Latency hours={hours} describe={from} />
      {extensions.includes('usage') && <Tokens />}
    </div>
  );
}

function Latency({ hours, describe }: { hours: Hours; describe: (index: number) => string }) {
  const medians = hours.map(({ median_seconds }) => median_seconds);
  const last = medians.findLast((seconds) => seconds !== null);
  const text = (seconds: number | null | undefined) =>
    seconds === null || seconds === undefined ? 'no runs' : duration(seconds * 1000);
  return (
    <Spark
      title="Latency"
      value={last === undefined ? '–' : text(last)}
      note="median of the newest hour with runs"
      values={medians}
      describe={(i) => `${text(medians[i])} ${describe(i)}`}
      tone="text-run"
    />
  );
}

function Tokens() {
  const { data } = useQuery(tokensQuery);
  const days = data ?? [];
  const today = days.at(-1)?.tokens ?? 0;
  return (
    <Spark
      title="Tokens"
      value={data ? count(today) : '–'}
      note="today, and the two weeks before"
      values={days.map(({ tokens }) => tokens)}
      describe={(i) => `${count(days[i]?.tokens ?? 0)} tokens on ${days[i]?.day}`}
      tone="text-tool"
    />
  );
}
