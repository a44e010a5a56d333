import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeploymentAccess } from '../../api/session.ts';
import { shortId } from '../../ui/format.tsx';
import { ID_LINK } from '../../ui/id-links.tsx';
import { deploymentOfQuery } from './deployment-queries.ts';

/** A revision id. A link if this server has deployments and the caller may see them. */
export function RevisionIdLink({ revision_id }: { revision_id: string }) {
  const { canSee: enabled } = useDeploymentAccess();
  const { data: deploymentId } = useQuery({ ...deploymentOfQuery(revision_id), enabled });
  if (!enabled || deploymentId === undefined)
    return <span className="font-mono text-xs">{shortId(revision_id)}</span>;
  return (
    <Link
      to="/deployments/$deploymentId"
      params={{ deploymentId }}
      search={{ revision: revision_id }}
      className={ID_LINK}
    >
      {shortId(revision_id)}
    </Link>
  );
}
