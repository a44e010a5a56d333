import type { ReactNode } from 'react';
import { useDeploymentAccess, useSession } from '../../api/session.ts';
import { Forbidden } from '../../ui/forbidden.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';

/** Shows its children to callers who may see deployments, and the reason to all others. */
export function WithDeployments({ children }: { children: ReactNode }) {
  const { authentication, read_only } = useSession();
  const { isOn, canSee } = useDeploymentAccess();
  if (canSee) return children;
  return (
    <Page title="Deployments">
      {!isOn ? (
        <Empty title="No deployments on this server">
          Set <code className="font-mono">deployments.enabled</code> to build projects here and serve each
          under a URL of its own.
        </Empty>
      ) : read_only && authentication ? (
        <Forbidden>
          Studio is read-only on this server. Its read scope does not include deployments.
        </Forbidden>
      ) : (
        <Forbidden>Deployments need an unrestricted key with the scope deployments:write or admin.</Forbidden>
      )}
    </Page>
  );
}
