import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { controlPlane, type Deployment, type Revision } from '../../api/control-plane.ts';
import { useDeploymentAccess } from '../../api/session.ts';
import type { ButtonLook } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';
import { isOpen } from '../deployments/revision-state.ts';

interface ActionsProps {
  readonly deployment: Deployment;
  readonly active: Revision | undefined;
  readonly latest: Revision | undefined;
  /** Target revision of a rollback. */
  readonly previous: Revision | undefined;
}

/** Actions of a deployment. Each asks for confirmation; a disabled one tells why. */
export function DeploymentActions({ deployment, active, latest, previous }: ActionsProps) {
  const { id, name } = deployment;
  const { canChange } = useDeploymentAccess();
  const navigate = useNavigate();
  const client = useQueryClient();
  const show = useShownAfter(id);
  if (!canChange) return null;
  const open = latest && isOpen(latest) ? latest : undefined;
  async function remove() {
    await controlPlane.delete(id);
    await navigate({ to: '/deployments' });
    client.removeQueries({ queryKey: ['deployment', id] });
    await client.invalidateQueries({ queryKey: ['deployment', 'list'] });
  }
  return (
    <>
      <Action action="Delete" question={`Delete ${name}?`} onConfirm={remove}>
        This stops the deployment and deletes its threads, store, keys, crons, builds and secrets. This cannot
        be undone.
      </Action>
      <RevisionAction
        action="Interrupt"
        revision={open}
        question={(number) => `Interrupt revision ${number}?`}
        reason={open ? undefined : 'Nothing is being built or deployed.'}
        onConfirm={(revision_id) => show(controlPlane.interrupt(id, revision_id))}
      >
        {() => `The build or deployment stops. ${serving(active)}`}
      </RevisionAction>
      <RevisionAction
        action="Roll back"
        look="plain"
        revision={previous}
        question={(number) => `Roll back to revision ${number}?`}
        reason={previous ? undefined : 'No earlier revision has a build to roll back to.'}
        onConfirm={(revision_id) => show(controlPlane.redeploy(id, revision_id))}
      >
        {(number) =>
          `A new revision with the code of revision ${number} takes over without a build. Threads and other data stay unchanged.`
        }
      </RevisionAction>
      <RevisionAction
        action="Redeploy"
        look="plain"
        revision={latest}
        question={(number) => `Deploy revision ${number} again?`}
        reason={redeployReason(latest)}
        onConfirm={(revision_id) => show(controlPlane.redeploy(id, revision_id))}
      >
        {() => `Creates a revision with the same code and the current secrets. ${serving(active)}`}
      </RevisionAction>
      <DeployNewest {...{ deployment, active, show }} />
    </>
  );
}

interface DeployNewestProps extends Pick<ActionsProps, 'deployment' | 'active'> {
  readonly show: (change: Promise<unknown>) => Promise<void>;
}

/** Deploys the newest sources, for all traffic or as a canary. */
function DeployNewest({ deployment: { id, name, source }, active, show }: DeployNewestProps) {
  const [share, setShare] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const canary_percent = share === '' ? undefined : Number(share);
  return (
    <Action
      action="Deploy newest"
      look="primary"
      question={`Deploy the newest sources of ${name}?`}
      reason={
        source === 'github'
          ? undefined
          : 'This deployment uses uploaded sources. Upload newer ones with agent-server deploy.'
      }
      onConfirm={async () => {
        // An invalid number reads as empty, which would mean no canary.
        if (field.current?.validity.valid === false)
          throw new Error('Enter a whole number from 1 to 99 as the canary share. Nothing was deployed.');
        await show(controlPlane.deployNewest(id, canary_percent));
        setShare('');
      }}
    >
      <div className="flex flex-col gap-3">
        <p>Fetches the newest commit, builds and checks it. {serving(active)}</p>
        {active && (
          <Field label="Canary share of new threads and stateless runs, in percent (leave empty to deploy to all)">
            <TextInput
              ref={field}
              type="number"
              min={1}
              max={99}
              className="w-24"
              value={share}
              onChange={({ target }) => setShare(target.value)}
            />
          </Field>
        )}
      </div>
    </Action>
  );
}

/** Promotes or ends a canary, or deploys a revision that was replaced or never served. */
export function RevisionActions({ revision }: { revision: Revision }) {
  const { canChange } = useDeploymentAccess();
  const { deployment_id, is_active, is_built, is_canary } = revision;
  const show = useShownAfter(deployment_id);
  if (!canChange || is_active || isOpen(revision)) return null;
  if (is_canary) return <CanaryActions {...{ revision, show }} />;
  return (
    <RevisionAction
      action="Deploy this revision"
      look="plain"
      revision={revision}
      question={(number) => `Deploy revision ${number} again?`}
      onConfirm={(id) => show(controlPlane.redeploy(deployment_id, id))}
    >
      {(number) =>
        `A new revision with the code of revision ${number} ${is_built ? 'takes over without a build.' : 'is built and checked, then takes over.'}`
      }
    </RevisionAction>
  );
}

function CanaryActions({ revision, show }: { revision: Revision; show: DeployNewestProps['show'] }) {
  const { deployment_id } = revision;
  return (
    <>
      <RevisionAction
        action="End canary"
        revision={revision}
        question={(number) => `End revision ${number}?`}
        onConfirm={(id) => show(controlPlane.interrupt(deployment_id, id))}
      >
        {() => 'Its threads and runs continue on the revision that serves the rest.'}
      </RevisionAction>
      <RevisionAction
        action="Promote"
        look="primary"
        revision={revision}
        question={(number) => `Promote revision ${number}?`}
        onConfirm={(id) => show(controlPlane.promote(deployment_id, id))}
      >
        {() =>
          'It takes over all traffic at once. The previous revision finishes its runs first, then stops.'
        }
      </RevisionAction>
    </>
  );
}

function serving(active: Revision | undefined): string {
  return active ? `Revision ${active.number} keeps serving until another revision takes over.` : '';
}

function redeployReason(latest: Revision | undefined): string | undefined {
  if (!latest) return 'No revisions yet.';
  return isOpen(latest) ? `Revision ${latest.number} is already being deployed.` : undefined;
}

/** Shows the newest revision after a change was accepted. */
function useShownAfter(id: string): (change: Promise<unknown>) => Promise<void> {
  const navigate = useNavigate();
  const client = useQueryClient();
  return async (change) => {
    await change;
    await client.invalidateQueries({ queryKey: ['deployment', id] });
    await navigate({ to: '.', search: {}, replace: true });
  };
}

interface ActionProps {
  readonly action: string;
  readonly question: string;
  readonly look?: ButtonLook;
  /** Why the action is disabled. `undefined` if it is enabled. */
  readonly reason?: string | undefined;
  readonly onOpen?: () => void;
  readonly onConfirm: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button that asks for confirmation. The reason for being disabled is its tooltip and read by screen readers. */
function Action({ reason, look = 'danger', ...props }: ActionProps) {
  return (
    <span title={reason} className="inline-flex">
      <Confirm {...props} look={look} disabled={reason !== undefined} />
      {reason !== undefined && <span className="sr-only">{reason}</span>}
    </span>
  );
}

interface RevisionActionProps extends Pick<ActionProps, 'action' | 'look' | 'reason'> {
  /** The current target revision. */
  readonly revision: Revision | undefined;
  readonly question: (number: number | undefined) => string;
  readonly onConfirm: (revision_id: string) => Promise<unknown>;
  readonly children: (number: number | undefined) => string;
}

/** Asks about the target revision at the time of opening, and refuses if the target has changed since. */
function RevisionAction({ revision, question, onConfirm, children, ...props }: RevisionActionProps) {
  const [asked, setAsked] = useState(revision);
  async function confirm() {
    if (asked === undefined || asked.id !== revision?.id)
      throw new Error(
        'A different revision is current now, so nothing was changed. Close this dialog and check again.',
      );
    await onConfirm(asked.id);
  }
  return (
    <Action
      {...props}
      question={question(asked?.number)}
      onOpen={() => setAsked(revision)}
      onConfirm={confirm}
    >
      {children(asked?.number)}
    </Action>
  );
}
