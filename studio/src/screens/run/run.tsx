import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Ago, count, duration, localTimes, shortId } from '../../ui/format.tsx';
import { ID_LINK } from '../../ui/id-links.tsx';
import { Json } from '../../ui/json.tsx';
import { useMoney } from '../../ui/money.ts';
import { MoreActions } from '../../ui/more-actions.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Pill, StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { RevisionIdLink } from '../deployments/revision-link.tsx';
import { threadQuery } from '../thread/thread-queries.ts';
import { titleOf } from '../threads/threads-query.ts';
import { Answer, useIsAsking } from './answer.tsx';
import { AsCode } from './as-code.tsx';
import { CancelRun } from './cancel-run.tsx';
import { FailureLog } from './failure-log.tsx';
import { Logs } from './logs.tsx';
import { Rerun } from './rerun.tsx';
import { Retry } from './retry.tsx';
import { explanationQuery, pollOf, runQuery, type Steps, stepsQuery } from './run-queries.ts';
import { Timeline } from './timeline.tsx';
import { Trace } from './trace.tsx';
import { usedBy } from './used.ts';

const Flame = lazy(() => import('./flame.tsx').then(({ Flame }) => ({ default: Flame })));
const RunGraph = lazy(() => import('./run-graph.tsx').then(({ RunGraph }) => ({ default: RunGraph })));
const Events = lazy(() => import('./events.tsx').then(({ Events }) => ({ default: Events })));

const TABS = [
  { name: 'timeline', label: 'Timeline' },
  { name: 'flame', label: 'Flame' },
  { name: 'graph', label: 'Graph' },
  { name: 'events', label: 'Events' },
  { name: 'input', label: 'Input' },
  { name: 'logs', label: 'Logs' },
  { name: 'explain', label: 'Explain' },
] as const;

/** One run: its steps, events, logs and explanation. */
export function Run() {
  const { runId } = useParams({ from: '/runs/$runId' });
  const explanation = useQuery(explanationQuery(runId));
  if (explanation.error) {
    return (
      <Page title={`Run ${shortId(runId)}`}>
        <Failure error={explanation.error} retry={() => void explanation.refetch()} />
      </Page>
    );
  }
  if (!explanation.data) return <Loading what="the run" />;
  // The key drops the state of another run when the address changes.
  return <RunView key={runId} explanation={explanation.data} />;
}

function RunView({ explanation }: { explanation: Schemas['RunExplanation'] }) {
  const search = useSearch({ from: '/runs/$runId' });
  const tab = TABS.find(({ name }) => name === search.tab)?.name ?? 'timeline';
  const { data: run } = useSuspenseQuery(runQuery(explanation));
  const refetchInterval = pollOf(run.status);
  const steps = useQuery({ ...stepsQuery(explanation.run_id), refetchInterval });
  const isAsking = useIsAsking(run, steps.data);
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === run.assistant_id);
  return (
    <Page
      title={assistant ? assistantName(assistant) : 'Run'}
      beside={
        <>
          <StatusPill status={run.status} />
          {isAsking && <Pill tone="wait">waiting for you</Pill>}
          <span className="font-mono text-xs text-ink-3">{run.run_id}</span>
        </>
      }
      actions={
        <>
          <MoreActions>
            <Link to="/compare" search={{ left: run.run_id }} className={buttonClass('quiet')}>
              Compare with …
            </Link>
            <AsCode run={run} />
            <Rerun run={run} />
          </MoreActions>
          <Retry run={run} error={explanation.error} />
          <CancelRun run={run} />
          {isAsking && <Answer run={run} />}
        </>
      }
    >
      <Summary explanation={explanation} created_at={run.created_at} steps={steps.data} />
      {explanation.error && <ErrorOf error={explanation.error} status={run.status} />}
      <FailureLog explanation={explanation} steps={steps.data} />
      <Tabs tabs={TABS} open={tab} />
      <Suspense fallback={<Loading what="the view" />}>
        {tab === 'timeline' && <Timeline steps={steps} explanation={explanation} />}
        {tab === 'flame' && <Flame steps={steps} explanation={explanation} />}
        {tab === 'graph' && <RunGraph run={run} />}
        {tab === 'events' && <Events run={run} />}
        {tab === 'input' && <Json value={run.kwargs} label="Input and options of the run" />}
        {tab === 'logs' && <Logs run={run} />}
        {tab === 'explain' && <Explanation explanation={explanation} />}
      </Suspense>
    </Page>
  );
}

interface SummaryProps {
  readonly explanation: Schemas['RunExplanation'];
  readonly created_at: string;
  readonly steps: Steps | undefined;
}

function Summary({ explanation, created_at, steps }: SummaryProps) {
  const { started_at, ended_at, max_attempts, thread_id, revision_id } = explanation;
  const attempts = steps?.attempts.length ?? 0;
  const { tokens, cost } = usedBy(steps?.steps ?? []);
  const money = useMoney();
  return (
    <ul className="flex flex-wrap gap-x-6 gap-y-1 text-ink-2 [&_b]:font-medium [&_b]:text-ink">
      <li>
        Created{' '}
        <b>
          <Ago at={created_at} />
        </b>
      </li>
      {started_at && ended_at && (
        <li>
          Duration <b>{duration(Date.parse(ended_at) - Date.parse(started_at))}</b>
        </li>
      )}
      {attempts > 0 && (
        <li>
          Attempt <b>{`${attempts} of ${Math.max(attempts, max_attempts)}`}</b>
        </li>
      )}
      {tokens > 0 && (
        <li>
          Tokens <b>{count(tokens)}</b>
        </li>
      )}
      {cost !== null && (
        <li>
          Cost <b>{money(cost)}</b>
        </li>
      )}
      <li>
        Thread <ThreadLink thread_id={thread_id} />
      </li>
      {revision_id && (
        <li>
          Executed by revision <RevisionIdLink revision_id={revision_id} />
        </li>
      )}
      {steps && <Trace trace_id={steps.trace_id} />}
    </ul>
  );
}

/** Shows the title of the thread, if it has one. */
function ThreadLink({ thread_id }: { thread_id: string }) {
  const { data: thread } = useQuery(threadQuery(thread_id));
  const title = thread && titleOf(thread);
  return (
    <Link
      to="/threads/$threadId"
      params={{ threadId: thread_id }}
      className={title ? 'font-medium text-accent hover:underline' : ID_LINK}
    >
      {title ? (
        <bdi className="inline-block max-w-[min(40ch,60vw)] truncate align-bottom">{title}</bdi>
      ) : (
        shortId(thread_id)
      )}
    </Link>
  );
}

/** No code has thrown: the server stopped it. */
const OUT_OF_TIME =
  'The run took longer than runs.timeout_seconds of the configuration. There is no stack, as nothing was thrown: the server cancelled the steps that were executing.';

interface ErrorOfProps {
  readonly error: NonNullable<Schemas['RunExplanation']['error']>;
  readonly status: string;
}

function ErrorOf({ error, status }: ErrorOfProps) {
  return (
    <Card className="border-err p-4">
      <h2 className="font-semibold text-err">{error.error}</h2>
      <p className="max-h-60 overflow-auto break-words whitespace-pre-wrap">
        {error.message || (status === 'timeout' && OUT_OF_TIME)}
      </p>
    </Card>
  );
}

function Explanation({ explanation }: { explanation: Schemas['RunExplanation'] }) {
  const { summary, worker, behind, due_at, attempt, max_attempts, retry_reason } = explanation;
  return (
    <Card className="flex flex-col gap-4 p-4">
      <p className="max-w-prose">{localTimes(summary)}</p>
      <Facts
        items={[
          ['Worker', worker ? `${worker.host ?? 'unknown host'}, process ${worker.pid ?? '?'}` : 'none'],
          ['Attempt', attempt === null ? 'ended' : `${attempt} of ${max_attempts}`],
          ...(retry_reason ? [['Retried because', localTimes(retry_reason)] as const] : []),
          ...(due_at ? [['Starts', new Date(due_at).toLocaleString()] as const] : []),
          ...(behind.length > 0 ? [['Behind', behind.map(shortId).join(', ')] as const] : []),
        ]}
      />
    </Card>
  );
}
