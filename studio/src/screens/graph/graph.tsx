import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { assistantAt, assistantName, assistantsQuery, type ListedAssistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { shortId, useNow } from '../../ui/format.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { mayStopAt, useBreakpoints } from './breakpoints.ts';
import { recentRunsQuery } from './graph-queries.ts';
import { GraphView } from './graph-view.tsx';
import { NodeActions } from './node-actions.tsx';
import { NodePanel } from './node-panel.tsx';
import { useRunStates } from './use-run-states.ts';

/** The graph of an assistant, alone or with the states of a run. All selections are in the address. */
export function Graph() {
  const { assistantId } = useParams({ from: '/graphs/$assistantId' });
  const { run, node, open = '' } = useSearch({ from: '/graphs/$assistantId' });
  const navigate = useNavigate({ from: '/graphs/$assistantId' });
  const { can } = useSession();
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistantAt(assistants, assistantId);
  const breakpoints = useBreakpoints(assistant?.assistant_id ?? assistantId);
  const expanded = useMemo(() => open.split(',').filter((id) => id !== ''), [open]);
  const { status } = useRunStates(run);
  const set = (change: { run?: string; node?: string | undefined; open?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const name = assistant ? assistantName(assistant) : shortId(assistantId);
  return (
    <Page
      title={name}
      beside={
        <>
          {assistant && assistant.graph_id !== name && (
            <span className="text-ink-3">graph {assistant.graph_id}</span>
          )}
          {status && <StatusPill status={status} />}
        </>
      }
      actions={
        <>
          <RunChoice assistantId={assistantId} run={run} onChoose={(id) => set({ run: id })} />
          <Links assistant={assistant} run={run} />
        </>
      }
    >
      <div className="grid min-h-0 flex-1 gap-4 max-lg:auto-rows-max lg:grid-cols-[1fr_320px] lg:grid-rows-[minmax(0,1fr)]">
        <GraphView
          assistantId={assistantId}
          runId={run}
          title={name}
          selected={node}
          onSelect={(id) => set({ node: id })}
          expanded={expanded}
          onExpand={(ids) => set({ open: ids.join(',') })}
          breakpoints={breakpoints}
          className="max-lg:h-[70vh]"
        />
        {node ? (
          <NodePanel key={node} assistantId={assistantId} runId={run} node={node}>
            {assistant && can('run') && mayStopAt(node) && (
              <NodeActions assistantId={assistant.assistant_id} node={node} runId={run} />
            )}
          </NodePanel>
        ) : (
          <Card className="p-4 text-ink-3 max-lg:hidden">
            Select a node to see its schema{run ? ' and what it did in the run' : ''}.
          </Card>
        )}
      </div>
    </Page>
  );
}

function Links({ assistant, run }: { assistant: ListedAssistant | undefined; run: string | undefined }) {
  return (
    <>
      {assistant && (
        <Link
          to="/assistants/$assistantId"
          params={{ assistantId: assistant.assistant_id }}
          className={buttonClass('quiet')}
        >
          Settings
        </Link>
      )}
      {run && (
        <Link to="/runs/$runId" params={{ runId: run }} className={buttonClass()}>
          Open run
        </Link>
      )}
    </>
  );
}

interface RunChoiceProps {
  readonly assistantId: string;
  readonly run: string | undefined;
  readonly onChoose: (run: string) => void;
}

function RunChoice({ assistantId, run, onChoose }: RunChoiceProps) {
  const { data: recent = [] } = useQuery(recentRunsQuery(assistantId));
  const now = useNow();
  const options = recent.map(({ run_id = '', status = '', created_at = '' }) => {
    const minutes = Math.floor((now - Date.parse(created_at)) / 60_000);
    const when = minutes < 60 ? `${Math.max(0, minutes)} min ago` : new Date(created_at).toLocaleString();
    return [run_id, `${status}, ${when}, ${shortId(run_id)}`] as const;
  });
  const isKnown = run === undefined || options.some(([id]) => id === run);
  return (
    <Select
      aria-label="Run"
      className="max-w-72"
      value={run ?? ''}
      onChange={({ target }) => onChoose(target.value)}
      options={[['', 'No run'], ...(isKnown ? [] : [[run, shortId(run)] as const]), ...options]}
    />
  );
}
