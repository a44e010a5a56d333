import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Ago, byteSize, count } from '../../ui/format.tsx';
import { Facts, Page, Panel } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Figures } from './figures.tsx';
import { LastDay } from './last-day.tsx';
import { overviewQuery } from './overview-query.ts';
import { Recent } from './recent.tsx';
import { Warnings } from './warnings.tsx';

/** Start screen: assistants to try, and key figures for operators. */
export function Overview() {
  const { isOperator, scope } = useSession();
  // A key for deployments may see nothing else.
  if (scope === 'deployments:write') return <Navigate to="/deployments" replace />;
  return (
    <Page title="Overview">
      {isOperator && <KeyFigures />}
      <Recent />
      <Assistants />
      {isOperator && <ServerState />}
    </Page>
  );
}

function KeyFigures() {
  const { data, error, refetch } = useQuery(overviewQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="server status" />;
  return (
    <>
      <Figures overview={data} />
      <LastDay overview={data} />
      <Warnings warnings={data.warnings} />
    </>
  );
}

function ServerState() {
  const { data } = useQuery(overviewQuery);
  if (!data) return null;
  const { crons, processes } = data;
  const [started] = processes.map(({ started_at }) => started_at).sort();
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Panel title="Processes">
        <Processes processes={processes} />
      </Panel>
      <Panel title="Server">
        <Facts
          items={[
            ['Version', data.versions.server],
            ['Started', started && <Ago key="started" at={started} />],
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
  );
}

function Processes({ processes }: { processes: Schemas['SystemOverview']['processes'] }) {
  return (
    <ul className="flex flex-col gap-2">
      {processes.map(({ worker_id, host, pid, role, slots, started_at }) => (
        <li key={worker_id} className="flex flex-wrap gap-x-3">
          <span className="font-medium">{host}</span>
          <span className="text-ink-3">process {pid}</span>
          <span>{role === 'api' ? 'serves requests' : `executes up to ${slots} runs`}</span>
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
  if (data.length === 0) return <Empty title="No assistants">Add a graph to the configuration.</Empty>;
  return (
    <Panel title="Assistants">
      <ul className="flex flex-col divide-y divide-line">
        {data.slice(0, 50).map((assistant) => (
          <li key={assistant.assistant_id} className="flex flex-wrap items-center gap-3 py-2">
            <span className="min-w-0 font-medium wrap-anywhere">{assistantName(assistant)}</span>
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
