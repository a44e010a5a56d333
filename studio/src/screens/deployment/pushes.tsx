import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { controlPlane, type DeploymentHooksList, type HookKind } from '../../api/control-plane.ts';
import { useDeploymentAccess } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Ago } from '../../ui/format.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { hooksQuery } from '../deployments/deployment-queries.ts';
import { Secret } from '../keys/secret.tsx';

/** Services that can send hooks. */
export const KINDS: Readonly<Record<HookKind, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea, Forgejo',
  bitbucket: 'Bitbucket',
  generic: 'anything else',
};

/** Which pushes are deployed, and how the server learns of them. */
export function Pushes({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(hooksQuery(id));
  return (
    <Panel title="Pushes">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="hooks" />}
      {data && <SetUp id={id} hooks={data} />}
    </Panel>
  );
}

function SetUp({ id, hooks }: { id: string; hooks: DeploymentHooksList }) {
  const { canChange } = useDeploymentAccess();
  const { branch, paused_because, secret_created_at, poll, urls } = hooks;
  return (
    <>
      {paused_because !== null && <p className="text-ink-2">Not deployed. {paused_because}</p>}
      <Facts
        items={[
          ...(branch === null ? [] : [['Branch', branchName(branch)] as const]),
          ['Secret', <SecretAge key="secret" at={secret_created_at} />],
          ['Polling', <Polling key="polling" poll={poll} />],
        ]}
      />
      <HookUrl urls={urls} />
      {canChange && <NewSecret id={id} isFirst={secret_created_at === null} />}
    </>
  );
}

function branchName(branch: string): string {
  return branch === 'HEAD' ? 'default' : branch.replace(/^refs\/heads\//, '');
}

function SecretAge({ at }: { at: string | null }): ReactNode {
  if (at === null) return <span className="text-ink-3">none (hooks are rejected)</span>;
  return (
    <>
      created <Ago at={at} />
    </>
  );
}

function Polling({ poll }: { poll: DeploymentHooksList['poll'] }) {
  if (!poll) return <span className="text-ink-3">off</span>;
  const { every_seconds, polled_at, commit_sha, failure } = poll;
  return (
    <>
      every {every_seconds} s
      {polled_at !== null && (
        <span className="text-ink-2">
          , last <Ago at={polled_at} />
        </span>
      )}
      {commit_sha !== null && !failure && (
        <span className="ml-1.5 font-mono text-xs text-ink-2" title={commit_sha}>
          {commit_sha.slice(0, 8)}
        </span>
      )}
      {failure && <p className="break-words text-err">{failure.hint}</p>}
    </>
  );
}

/** The hook URL for the selected service. */
function HookUrl({ urls }: { urls: DeploymentHooksList['urls'] }) {
  const [kind, setKind] = useState<HookKind>('github');
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="flex items-center gap-2 text-ink-3">
          Address for
          <Select
            aria-label="Hook service"
            value={kind}
            onChange={({ target }) => setKind(target.value as HookKind)}
            options={Object.entries(KINDS)}
          />
        </span>
        <CopyButton text={urls[kind]} what="the address for hooks" />
      </div>
      <code className="rounded-md bg-sunk px-2 py-1 font-mono text-xs break-all">{urls[kind]}</code>
    </div>
  );
}

function NewSecret({ id, isFirst }: { id: string; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button className="self-start" onClick={() => setOpen(true)}>
        {isFirst ? 'Create secret' : 'Replace secret'}
      </Button>
      <Dialog title={isFirst ? 'Create hook secret' : 'Replace hook secret'} open={isOpen} onClose={close}>
        <SecretForm id={id} isFirst={isFirst} close={close} />
      </Dialog>
    </>
  );
}

function SecretForm({ id, isFirst, close }: { id: string; isFirst: boolean; close: () => void }) {
  const client = useQueryClient();
  const create = useMutation({
    // Not cached: only this dialog holds the secret.
    gcTime: 0,
    mutationFn: () => controlPlane.createHookSecret(id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['deployment', id] }),
  });
  if (create.data) {
    return (
      <Secret label="Hook secret" secret={create.data.secret} onClose={close}>
        Copy it to the settings of the service now. It is not shown again.
      </Secret>
    );
  }
  return (
    <DialogForm action={isFirst ? 'Create' : 'Replace'} sending={create} close={close}>
      <p className="text-ink-2">
        {isFirst
          ? 'Services use this secret to report pushes. It is shown only once.'
          : 'The current secret stops working at once. Hooks are rejected until the service has the new secret, which is shown only once.'}
      </p>
    </DialogForm>
  );
}
