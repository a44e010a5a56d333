import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { api, dataOf } from '../../api/client.ts';
import { Ago, localTimes } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { CronPill } from '../crons/cron-pill.tsx';
import type { Cron as CronRow } from '../crons/crons-query.ts';
import { NextTimes } from '../crons/times.tsx';
import { CronActions } from './cron-actions.tsx';
import { Fires } from './fires.tsx';

const cronQuery = (cron_id: string) =>
  queryOptions({
    queryKey: ['cron', cron_id],
    queryFn: async () => {
      const params = { path: { cron_id } };
      const [cron, explanation] = await Promise.all([
        dataOf(api.GET('/runs/crons/{cron_id}', { params })),
        dataOf(api.GET('/runs/crons/{cron_id}/explain', { params })),
      ]);
      return { cron, explanation };
    },
  });

/** One cron: its schedule and the outcome of each time it fired. */
export function Cron() {
  const { cronId } = useParams({ from: '/crons/$cronId' });
  const { data, error, refetch } = useQuery(cronQuery(cronId));
  if (error) {
    return (
      <Page title="Cron">
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="the cron" />;
  const { cron, explanation } = data;
  return (
    <Page
      title={<span className="font-mono">{cron.schedule}</span>}
      beside={
        <>
          <CronPill cron={cron} />
          <span className="font-mono text-xs text-ink-3">{cron.cron_id}</span>
        </>
      }
      actions={<CronActions cron={cron} />}
    >
      <p className="max-w-prose break-words">{localTimes(explanation.summary)}</p>
      <div className="grid items-start gap-4 xl:grid-cols-[1fr_400px]">
        <section className="flex min-w-0 flex-col gap-2 max-xl:order-2">
          <h2 className="text-xs font-semibold text-ink-2">History</h2>
          <Fires cron_id={cron.cron_id} />
        </section>
        <aside className="flex min-w-0 flex-col gap-4">
          <Card className="flex flex-col gap-3 p-4">
            <h2 className="text-xs font-semibold text-ink-2">Next runs</h2>
            {cron.next_run_date === null ? (
              <p className="text-ink-2">Not scheduled. Resume or edit the cron to schedule it.</p>
            ) : (
              <NextTimes
                schedule={cron.schedule}
                timezone={cron.timezone}
                end={cron.end_time === null ? undefined : Date.parse(cron.end_time)}
              />
            )}
          </Card>
          <Details cron={cron} />
        </aside>
      </div>
    </Page>
  );
}

function Details({ cron }: { cron: CronRow }) {
  const { data: assistants } = useSuspenseQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === cron.assistant_id);
  // The rest is shown elsewhere on the screen.
  const { schedule, timezone, enabled, assistant_id, metadata, ...options } =
    cron.payload as Partial<CronRow>;
  return (
    <Card className="flex flex-col gap-3 p-4">
      <Facts
        items={[
          ['Assistant', assistant ? assistantName(assistant) : cron.assistant_id],
          ['Thread', cron.thread_id ?? 'a new thread for each run'],
          ['Created', <Ago key="created" at={cron.created_at} />],
          ['Updated', <Ago key="changed" at={cron.updated_at} />],
          ...(cron.end_time === null ? [] : [['Ends', new Date(cron.end_time).toLocaleString()] as const]),
        ]}
      />
      <h2 className="text-xs font-semibold text-ink-2">Input and options</h2>
      <Json value={options} label="Input and options of its runs" />
      {Object.keys(cron.metadata).length > 0 && (
        <>
          <h2 className="text-xs font-semibold text-ink-2">Metadata</h2>
          <Json value={cron.metadata} label="Metadata" />
        </>
      )}
    </Card>
  );
}
