import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { API_URL } from '../../api/base.ts';
import type { Deployment } from '../../api/control-plane.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedList } from '../../ui/paged-list.tsx';
import { Empty } from '../../ui/states.tsx';
import { Cell, OPENS, Row, Table } from '../../ui/table.tsx';
import { WithDeployments } from './access.tsx';
import { Commit } from './commit.tsx';
import { deploymentsQuery, revisionQuery } from './deployment-queries.ts';
import { ServingState } from './revision-pill.tsx';
import { stateSince } from './revision-state.ts';

/** List of deployments. */
export function Deployments() {
  return (
    <WithDeployments>
      <Page title="Deployments">
        <List />
      </Page>
    </WithDeployments>
  );
}

function List() {
  const query = useInfiniteQuery(deploymentsQuery);
  return (
    <PagedList query={query} what="deployments" more="Show older deployments" empty={<None />}>
      {(deployments) => (
        <Table label="Deployments" columns={['Name', 'Status', 'Address', 'Revision', 'Commit', 'Since']}>
          {deployments.map((deployment) => (
            <DeploymentRow key={deployment.id} deployment={deployment} />
          ))}
        </Table>
      )}
    </PagedList>
  );
}

function None() {
  const command = `npx agent-server deploy . --name my-agent --url ${API_URL}`;
  return (
    <Empty title="No deployments yet">
      <p>Run this in a project folder, or replace the dot with the URL of its Git repository:</p>
      <p className="mt-2 flex items-center justify-center gap-2">
        <code className="rounded-md bg-sunk px-2 py-1 font-mono text-xs break-all text-ink">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
    </Empty>
  );
}

function DeploymentRow({ deployment }: { deployment: Deployment }) {
  const { id, name, source_config, active_revision_id, latest_revision_id } = deployment;
  const { data: active } = useQuery(revisionQuery(id, active_revision_id));
  const { data: latest } = useQuery(revisionQuery(id, latest_revision_id));
  const shown = active ?? latest;
  return (
    <Row>
      <Cell className="font-medium">
        <Link
          {...OPENS}
          to="/deployments/$deploymentId"
          params={{ deploymentId: id }}
          className="hover:text-accent"
        >
          {name}
        </Link>
      </Cell>
      <Cell>
        <ServingState active={active} latest={latest} />
      </Cell>
      <Cell className="max-w-[44ch] truncate font-mono text-xs text-ink-2">{source_config.custom_url}</Cell>
      <Cell>{active ? `#${active.number}` : <span className="text-ink-3">none</span>}</Cell>
      <Cell className="max-w-[36ch]">{shown && <Commit revision={shown} />}</Cell>
      <Cell className="text-ink-2">
        <Ago at={shown ? stateSince(shown) : deployment.created_at} />
      </Cell>
    </Row>
  );
}
