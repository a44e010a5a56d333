import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { controlPlane, type DeployKey, type RepositoryToken } from '../../api/control-plane.ts';
import { useDeploymentAccess } from '../../api/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Ago } from '../../ui/format.tsx';
import { Panel } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { repositoryAccessQuery } from '../deployments/deployment-queries.ts';
import { StoreToken } from './store-token.tsx';

/** Credentials for a private repository: a token for HTTPS, a deploy key for SSH. */
export function RepositoryAccess({ id, url }: { id: string; url: string }) {
  const { data, error, refetch } = useQuery(repositoryAccessQuery(id));
  const isHttps = /^https:/i.test(url);
  const isSsh = !/^(https?|file):/i.test(url);
  return (
    <Panel title="Access to the repository">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="what it signs in with" />}
      {data && (isHttps || data.token.is_set) && <Token id={id} token={data.token} canStore={isHttps} />}
      {data && (isSsh || data.key.public_key !== null) && <Key id={id} deployKey={data.key} />}
      {data && data.key.host_keys.length > 0 && <HostKeys id={id} hostKeys={data.key.host_keys} />}
    </Panel>
  );
}

function Token({ id, token, canStore }: { id: string; token: RepositoryToken; canStore: boolean }) {
  const { is_set, host, username, updated_at } = token;
  const change = useChange(id);
  return (
    <Part
      buttons={
        <>
          {canStore && <StoreToken id={id} isFirst={!is_set} />}
          {is_set && (
            <Confirm
              action="Delete token"
              question="Delete the token?"
              onConfirm={() => change(controlPlane.deleteOf(id, 'repository-token'))}
            >
              Private repositories can no longer be fetched over HTTPS.
            </Confirm>
          )}
        </>
      }
    >
      {is_set ? (
        <p>
          A token for {host}
          {username !== null && `, as ${username}`}
          {updated_at !== null && (
            <span className="text-ink-3">
              , stored <Ago at={updated_at} />
            </span>
          )}
        </p>
      ) : (
        <p className="text-ink-3">No token. Only public repositories can be fetched.</p>
      )}
    </Part>
  );
}

function Key({ id, deployKey: { public_key, created_at } }: { id: string; deployKey: DeployKey }) {
  const change = useChange(id);
  const isFirst = public_key === null;
  return (
    <Part
      buttons={
        <>
          <Confirm
            action={isFirst ? 'Create deploy key' : 'Replace key'}
            look="plain"
            question={isFirst ? 'Create a deploy key?' : 'Replace the deploy key?'}
            onConfirm={() => change(controlPlane.createDeployKey(id))}
          >
            {isFirst
              ? 'The server keeps the private key. Add the public key to the repository as a read-only deploy key.'
              : 'The repository cannot be fetched until you add the new public key to it.'}
          </Confirm>
          {!isFirst && (
            <Confirm
              action="Delete key"
              question="Delete the deploy key?"
              onConfirm={() => change(controlPlane.deleteOf(id, 'deploy-key'))}
            >
              The repository can no longer be fetched over SSH.
            </Confirm>
          )}
        </>
      }
    >
      {isFirst ? (
        <p className="text-ink-3">No deploy key. SSH repositories need one.</p>
      ) : (
        <>
          <div className="flex items-center justify-between gap-2">
            <p>
              Deploy key{' '}
              {created_at !== null && (
                <span className="text-ink-3">
                  created <Ago at={created_at} />
                </span>
              )}
            </p>
            <CopyButton text={public_key} what="the public key" />
          </div>
          <code className="rounded-md bg-sunk px-2 py-1 font-mono text-xs break-all">{public_key}</code>
        </>
      )}
    </Part>
  );
}

function HostKeys({ id, hostKeys }: { id: string; hostKeys: readonly string[] }) {
  const change = useChange(id);
  return (
    <Part
      buttons={
        <Confirm
          action="Forget host keys"
          question="Forget the pinned host keys?"
          onConfirm={() => change(controlPlane.deleteOf(id, 'host-keys'))}
        >
          The next connection pins whatever key the host presents. Continue only if the host has announced a
          new key.
        </Confirm>
      }
    >
      <p>Pinned host keys</p>
      <ul aria-label="Pinned host keys" className="flex flex-col gap-1">
        {hostKeys.map((line) => (
          <li key={line} title={line} className="truncate rounded-md bg-sunk px-2 py-0.5 font-mono text-xs">
            {line}
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** `buttons` are shown only to callers who may change something. */
function Part({ buttons, children }: { buttons: ReactNode; children: ReactNode }) {
  const { canChange } = useDeploymentAccess();
  return (
    <div className="flex flex-col gap-1.5">
      {children}
      {canChange && <div className="mt-0.5 flex flex-wrap gap-2">{buttons}</div>}
    </div>
  );
}

/** Refreshes the screen after a change was accepted. */
function useChange(id: string): (change: Promise<unknown>) => Promise<void> {
  const client = useQueryClient();
  return async (change) => {
    await change;
    await client.invalidateQueries({ queryKey: ['deployment', id] });
  };
}
