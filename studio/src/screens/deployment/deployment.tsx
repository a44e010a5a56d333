import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Deployment as DeploymentData, NextAction, Revision } from '../../api/control-plane.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { WithDeployments } from '../deployments/access.tsx';
import { deploymentQuery, healthQuery, revisionQuery } from '../deployments/deployment-queries.ts';
import { ServingState } from '../deployments/revision-pill.tsx';
import { isFailed, previousOf, stateSince } from '../deployments/revision-state.ts';
import { DeploymentActions, RevisionActions } from './actions.tsx';
import { Hooks } from './hooks.tsx';
import { LiveRevisions } from './live-revisions.tsx';
import { RevisionDetails } from './revision-details.tsx';
import { Revisions } from './revisions.tsx';
import { Summary } from './summary.tsx';

/** Initial and maximum number of revisions. */
const SHOWN = { first: 20, most: 100 };

/** One deployment: what serves, what is being deployed, and what to do next. */
export function Deployment() {
  return (
    <WithDeployments>
      <Details />
    </WithDeployments>
  );
}

function Details() {
  const { deploymentId } = useParams({ from: '/deployments/$deploymentId' });
  const [limit, setLimit] = useState(SHOWN.first);
  const { data, error, refetch } = useQuery(deploymentQuery(deploymentId, limit));
  if (error) {
    return (
      <Page title="Deployment">
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="the deployment" />;
  const hasMore = data.revisions.length === limit && limit < SHOWN.most;
  return (
    <Content
      deployment={data.deployment}
      revisions={data.revisions}
      more={hasMore ? () => setLimit(SHOWN.most) : undefined}
    />
  );
}

interface ContentProps {
  readonly deployment: DeploymentData;
  readonly revisions: readonly Revision[];
  readonly more: (() => void) | undefined;
}

function Content({ deployment, revisions, more }: ContentProps) {
  const { id, name, active_revision_id } = deployment;
  const { revision: wanted } = useSearch({ from: '/deployments/$deploymentId' });
  const [latest] = revisions;
  const active = useRevision(id, revisions, active_revision_id);
  const selected = useRevision(id, revisions, wanted ?? latest?.id ?? null);
  const previous = previousOf(revisions, active);
  const { data: health, error } = useQuery(healthQuery(id, revisions));
  return (
    <Page
      title={name}
      beside={
        <>
          <ServingState active={active} latest={latest} />
          {health?.check?.ok === false && <Pill tone="err">not healthy</Pill>}
          {latest && (
            <span className="text-ink-3">
              <Ago at={stateSince(latest)} />
            </span>
          )}
        </>
      }
      actions={<DeploymentActions {...{ deployment, active, latest, previous }} />}
    >
      {error && <Failure error={error} />}
      {health && (
        <Next
          action={health.next_action}
          isBad={(latest !== undefined && isFailed(latest)) || health.check?.ok === false}
        />
      )}
      <div className="grid items-start gap-4 xl:grid-cols-[1fr_360px]">
        <div className="flex min-w-0 flex-col gap-4">
          {health && <LiveRevisions health={health} />}
          {selected && (
            <RevisionDetails
              revision={selected}
              name={name}
              actions={<RevisionActions revision={selected} />}
            />
          )}
          {latest && <Revisions revisions={revisions} selected={selected?.id} more={more} />}
          {deployment.source === 'github' && <Hooks id={id} />}
        </div>
        <Summary deployment={deployment} health={health} />
      </div>
    </Page>
  );
}

/** A revision by id, loaded if the list does not show it. */
function useRevision(id: string, revisions: readonly Revision[], revision_id: string | null) {
  const shown = revisions.find((revision) => revision.id === revision_id);
  const { data } = useQuery(revisionQuery(id, shown ? null : revision_id));
  return shown ?? data;
}

function Next({ action: { text, command }, isBad }: { action: NextAction; isBad: boolean }) {
  return (
    <Card
      className={`flex flex-none flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 ${isBad ? 'bg-wait-bg' : ''}`}
    >
      <h2 className="text-xs font-semibold text-ink-2">Next</h2>
      <p>{text}</p>
      {command !== null && (
        <span className="flex min-w-0 items-center gap-1">
          <code className="rounded-md bg-sunk px-2 py-0.5 font-mono text-xs break-all">{command}</code>
          <CopyButton text={command} what="the command" />
        </span>
      )}
    </Card>
  );
}
