import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { assistantAt, assistantName, assistantsQuery, type ListedAssistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { shortId } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import { RunChoice } from '../runs/run-choice.tsx';
import { mayStopAt, useBreakpoints } from './breakpoints.ts';
import { GraphPanes, type GraphSelection } from './graph-panes.tsx';
import { NodeActions } from './node-actions.tsx';
import { useRunStates } from './use-run-states.ts';

/** The graph of an assistant, alone or with the states of a run. All selections are in the address. */
export function Graph() {
  const { assistantId } = useParams({ from: '/graphs/$assistantId' });
  const { run, node, open = '' } = useSearch({ from: '/graphs/$assistantId' });
  const { can } = useSession();
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistantAt(assistants, assistantId);
  const breakpoints = useBreakpoints(assistant?.assistant_id ?? assistantId);
  const { status } = useRunStates(run);
  const set = useSearchChange<GraphSelection & { run?: string }>();
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
      <GraphPanes
        assistantId={assistantId}
        runId={run}
        title={name}
        selection={{ node, open }}
        onSelect={set}
        breakpoints={breakpoints}
        actions={
          node !== undefined &&
          assistant &&
          can('run') &&
          mayStopAt(node) && <NodeActions assistantId={assistant.assistant_id} node={node} runId={run} />
        }
        hint={`Select a node to see its schema${run ? ' and what it did in the run' : ''}.`}
      />
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
