import { useSession } from '../../api/session.ts';
import { byteSize, count, duration } from '../../ui/format.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Chart } from './chart.tsx';
import { samplesOf, useHistory } from './history.ts';
import { Hosts } from './hosts.tsx';
import { Pools } from './pools.tsx';
import { rates, type Sample, useSamples } from './samples.ts';

const perSecond = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)}/s`;
const seconds = (value: number): string => duration(value * 1000);
const timeOf = (time: string | number): string => new Date(time).toLocaleTimeString();

/** Charts of the process that answers. */
export function Charts() {
  const { isOperator } = useSession();
  const { history, error, refetch } = useHistory(isOperator);
  const { samples, readings, ...metrics } = useSamples();
  if (error && !history) return <Failure error={error} retry={() => void refetch()} />;
  if (metrics.error && !readings)
    return <Failure error={metrics.error} retry={() => void metrics.refetch()} />;
  if (!readings || (isOperator && !history)) return <Loading what="measurements" />;
  return (
    <section className="flex flex-col gap-2">
      <Lines samples={history ? samplesOf(history) : samples} />
      <Hosts readings={readings} />
      <Pools readings={readings} />
      <p className="text-xs text-ink-3">
        {history
          ? `The last hour of process ${history.process.pid} on ${history.process.host}, measured since ${timeOf(history.since)}.`
          : `The process that answered, since ${timeOf(samples[0]?.at ?? 0)}, while Studio was open; up to one hour.`}{' '}
        For longer periods, scrape /metrics with Prometheus.
      </p>
    </section>
  );
}

function Lines({ samples }: { samples: readonly Sample[] }) {
  const times = samples.map(({ at }) => at);
  // A rate covers the interval before its sample.
  const spans = times.slice(1);
  const of = (field: keyof Sample) => samples.map((sample) => sample[field]);
  return (
    <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
      <Chart
        times={times}
        title="Runs"
        format={count}
        lines={[
          { name: 'running', values: of('running'), tone: 'text-run' },
          { name: 'waiting', values: of('pending'), tone: 'text-wait' },
        ]}
      />
      <Chart
        times={times}
        title="Event loop delay"
        format={seconds}
        lines={[
          { name: '99 %', values: of('lag_p99'), tone: 'text-accent' },
          { name: 'worst', values: of('lag_max'), tone: 'text-err' },
        ]}
      />
      <Chart
        times={times}
        title="Process memory"
        format={byteSize}
        lines={[{ name: 'resident', values: of('memory_bytes'), tone: 'text-accent' }]}
      />
      <Chart
        times={spans}
        title="Requests"
        format={perSecond}
        lines={[{ name: 'answered', values: rates(samples, 'requests'), tone: 'text-accent' }]}
      />
      <Chart
        times={spans}
        title="Ended runs"
        format={perSecond}
        lines={[
          { name: 'ended', values: rates(samples, 'ended'), tone: 'text-accent' },
          { name: 'failed', values: rates(samples, 'failed'), tone: 'text-err' },
        ]}
      />
      <Chart
        times={times}
        title="Webhooks"
        format={count}
        lines={[
          { name: 'pending', values: of('webhooks_pending'), tone: 'text-wait' },
          { name: 'dead', values: of('webhooks_dead'), tone: 'text-err' },
        ]}
      />
      {/* SQLite has no connection pool. */}
      {samples.some(({ connections_open }) => connections_open > 0) && (
        <Chart
          times={times}
          title="Connections to PostgreSQL"
          format={count}
          lines={[
            { name: 'open', values: of('connections_open'), tone: 'text-accent' },
            { name: 'waiting for one', values: of('connections_waiting'), tone: 'text-wait' },
          ]}
        />
      )}
    </div>
  );
}
