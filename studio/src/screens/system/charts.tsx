import { byteSize, count, duration } from '../../ui/format.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Chart } from './chart.tsx';
import { Hosts } from './hosts.tsx';
import { Pools } from './pools.tsx';
import { rates, type Sample, total, useSamples } from './samples.ts';

const perSecond = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)}/s`;
const seconds = (value: number): string => duration(value * 1000);

/** What the process that answers is doing, and how well. */
export function Charts() {
  const { samples, error, refetch } = useSamples();
  const last = samples.at(-1);
  if (error && !last) return <Failure error={error} retry={() => void refetch()} />;
  if (!last) return <Loading what="measurements" />;
  const since = new Date((samples[0] as Sample).at).toLocaleTimeString();
  const times = samples.map(({ at }) => at);
  const of = (metric: string) => samples.map(({ readings }) => total(readings, metric) ?? 0);
  return (
    <section className="flex flex-col gap-2">
      <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        <Chart
          times={times}
          title="Runs"
          format={count}
          lines={[
            { name: 'running', values: of('lg_api_num_running_runs'), tone: 'text-run' },
            { name: 'waiting', values: of('lg_api_num_pending_runs'), tone: 'text-wait' },
          ]}
        />
        <Chart
          times={times}
          title="Delay of the event loop"
          format={seconds}
          lines={[
            { name: '99 %', values: of('agent_server_event_loop_lag_p99_seconds'), tone: 'text-accent' },
            { name: 'worst', values: of('agent_server_event_loop_lag_max_seconds'), tone: 'text-err' },
          ]}
        />
        <Chart
          times={times}
          title="Memory of the process"
          format={byteSize}
          lines={[{ name: 'resident', values: of('process_resident_memory_bytes'), tone: 'text-accent' }]}
        />
        <Rate samples={samples} title="Requests" metric="lg_api_http_requests_total" name="answered" />
        <Rate samples={samples} title="Ended runs" metric="agent_server_runs_ended_total" name="ended" />
        <Chart
          times={times}
          title="Webhooks"
          format={count}
          lines={[
            { name: 'pending', values: of('agent_server_webhooks_pending'), tone: 'text-wait' },
            { name: 'dead', values: of('agent_server_webhooks_dead'), tone: 'text-err' },
          ]}
        />
      </div>
      <Hosts readings={last.readings} />
      <Pools readings={last.readings} />
      <p className="text-xs text-ink-3">
        Of the process that answers, since {since}, while this screen was open; for an hour at most. Charts
        over longer times need a Prometheus that reads /metrics.
      </p>
    </section>
  );
}

interface RateProps {
  readonly samples: readonly Sample[];
  readonly title: string;
  readonly metric: string;
  readonly name: string;
}

function Rate({ samples, title, metric, name }: RateProps) {
  const values = rates(samples, metric);
  // A rate is that of the time before.
  const times = samples.slice(1).map(({ at }) => at);
  return (
    <Chart times={times} title={title} format={perSecond} lines={[{ name, values, tone: 'text-accent' }]} />
  );
}
