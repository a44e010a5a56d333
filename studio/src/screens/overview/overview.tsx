import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps, Navigate } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Ago, byteSize, count } from '../../ui/format.tsx';
import { Card, Facts, Page, Panel } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { overviewQuery } from './overview-query.ts';

/** What a newcomer can try, and what an operator must see first. */
export function Overview() {
  const { unrestricted, can, scope } = useSession();
  // All that such a key may see.
  if (scope === 'deployments:write') return <Navigate to="/deployments" replace />;
  return (
    <Page title="Overview">
      {unrestricted && can('admin') && <ServerState />}
      <Assistants />
    </Page>
  );
}

function ServerState() {
  const { data, error, refetch } = useQuery(overviewQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the state of the server" />;
  const { runs, threads, webhooks, crons } = data;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
        <Figure
          name="Running"
          value={runs.running}
          note={`${count(runs.pending)} waiting`}
          to={{ to: '/runs', search: { status: 'running' } }}
        />
        <Figure
          name="Failed in 24 hours"
          value={runs.ended.error + runs.ended.timeout}
          note={`${count(runs.ended.success)} succeeded`}
          to={{ to: '/runs', search: { status: 'error', since: '24' } }}
          isBad={runs.ended.error + runs.ended.timeout > 0}
        />
        <Figure
          name="Waiting for a person"
          value={threads.interrupted}
          note={`of ${count(threads.total)} threads`}
          to={{ to: '/inbox' }}
        />
        <Figure
          name="Dead webhooks"
          value={webhooks.dead}
          note={`${count(webhooks.pending)} to be delivered`}
          to={{ to: '/webhooks', search: { status: 'dead' } }}
          isBad={webhooks.dead > 0}
        />
      </div>
      <div className="grid gap-4 xl:grid-cols-2">
        <Panel title="Processes">
          <Processes processes={data.processes} />
        </Panel>
        <Panel title="Server">
          <Facts
            items={[
              ['Version', data.versions.server],
              ['LangGraph.js', data.versions.langgraph_js ?? 'not installed'],
              ['Node', data.versions.node],
              [
                'Storage',
                `${data.storage.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${byteSize(data.storage.size_bytes)}`,
              ],
              ['Crons', `${count(crons.enabled)} scheduled, ${count(crons.overdue)} overdue`],
            ]}
          />
        </Panel>
      </div>
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly note: string;
  /** What it counts. */
  readonly to: LinkProps;
  readonly isBad?: boolean;
}

function Figure({ name, value, note, to, isBad = false }: FigureProps) {
  return (
    <Card className="relative p-4 hover:border-line-strong">
      <h2 className="text-xs font-semibold text-ink-2">
        <Link {...to} className="after:absolute after:inset-0">
          {name}
        </Link>
      </h2>
      <p className={`text-lg font-semibold ${isBad ? 'text-err' : ''}`}>{count(value)}</p>
      <p className="text-ink-3">{note}</p>
    </Card>
  );
}

function Processes({ processes }: { processes: Schemas['SystemOverview']['processes'] }) {
  return (
    <ul className="flex flex-col gap-2">
      {processes.map(({ worker_id, host, pid, role, slots, started_at }) => (
        <li key={worker_id} className="flex flex-wrap gap-x-3">
          <span className="font-medium">{host}</span>
          <span className="text-ink-3">process {pid}</span>
          <span>{role === 'api' ? 'answers requests' : `executes up to ${slots} runs`}</span>
          <span className="ml-auto text-ink-3">
            started <Ago at={started_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Assistants() {
  const { data, error, refetch } = useQuery(assistantsQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="assistants" />;
  if (data.length === 0) return <Empty title="No assistants">Name a graph in the configuration.</Empty>;
  return (
    <Panel title="Assistants">
      <ul className="flex flex-col divide-y divide-line">
        {data.slice(0, 50).map((assistant) => (
          <li key={assistant.assistant_id} className="flex flex-wrap items-center gap-3 py-2">
            <span className="font-medium">{assistantName(assistant)}</span>
            <span className="min-w-0 truncate text-ink-3">{assistant.description}</span>
            <span className="ml-auto flex gap-2">
              <Link
                to="/runs"
                search={{ assistant: assistant.assistant_id }}
                className={buttonClass('quiet')}
              >
                Runs
              </Link>
              <Link
                to="/chat/$assistantId"
                params={{ assistantId: assistant.assistant_id }}
                className={buttonClass()}
              >
                Chat
              </Link>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
