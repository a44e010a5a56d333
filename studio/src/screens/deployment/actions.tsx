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
  /** The revision that a rollback goes to. */
  readonly previous: Revision | undefined;
}

/** What can be done with a deployment. Each asks first, and says why it cannot be done now. */
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
        It is no longer served. Its threads, store, keys, crons, builds and secrets are deleted. This cannot
        be undone.
      </Action>
      <RevisionAction
        action="Interrupt"
        revision={open}
        question={(number) => `Interrupt revision ${number}?`}
        reason={open ? undefined : 'Nothing is being built or deployed.'}
        onConfirm={(revision_id) => show(controlPlane.interrupt(id, revision_id))}
      >
        {() => `It ends where it is. ${serving(active)}`}
      </RevisionAction>
      <RevisionAction
        action="Roll back"
        look="plain"
        revision={previous}
        question={(number) => `Go back to revision ${number}?`}
        reason={previous ? undefined : 'No earlier revision that served has its build kept.'}
        onConfirm={(revision_id) => show(controlPlane.redeploy(id, revision_id))}
      >
        {(number) =>
          `A new revision with the code of revision ${number} takes over, without a build. Threads and other data stay as they are.`
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
        {() => `A new revision with the same code, and with the secrets as they are now. ${serving(active)}`}
      </RevisionAction>
      <DeployNewest {...{ deployment, active, show }} />
    </>
  );
}

interface DeployNewestProps extends Pick<ActionsProps, 'deployment' | 'active'> {
  readonly show: (change: Promise<unknown>) => Promise<void>;
}

/** Deploys the newest sources, for everything or as a canary beside what serves. */
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
          : 'Its sources are uploaded: send newer ones with agent-server deploy.'
      }
      onConfirm={async () => {
        // What is no number is empty for the page, which would be no canary.
        if (field.current?.validity.valid === false)
          throw new Error('The share of a canary is a whole number from 1 to 99. Nothing was deployed.');
        await show(controlPlane.deployNewest(id, canary_percent));
        setShare('');
      }}
    >
      <div className="flex flex-col gap-3">
        <p>Fetches the newest commit, builds and checks it. {serving(active)}</p>
        {active && (
          <Field label="As a canary: its share of new threads and stateless runs, percent (empty: no canary)">
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

/** Promotes or ends a canary; deploys a revision that another one has replaced, or that did not come to serve. */
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
        `A new revision with the code of revision ${number} ${is_built ? 'takes over, without a build.' : 'is built, checked, and takes over.'}`
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
        {() => 'Its threads and runs go on in the revision that serves the rest.'}
      </RevisionAction>
      <RevisionAction
        action="Promote"
        look="primary"
        revision={revision}
        question={(number) => `Let revision ${number} serve everything?`}
        onConfirm={(id) => show(controlPlane.promote(deployment_id, id))}
      >
        {() => 'It takes over at once. The revision that serves the rest ends as at any other switch.'}
      </RevisionAction>
    </>
  );
}

function serving(active: Revision | undefined): string {
  return active ? `Revision ${active.number} goes on serving until another one takes over.` : '';
}

function redeployReason(latest: Revision | undefined): string | undefined {
  if (!latest) return 'There is no revision yet.';
  return isOpen(latest) ? `Revision ${latest.number} is on its way already.` : undefined;
}

/** Shows the newest revision once a change is accepted. */
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
  /** Why it cannot be done; undefined if it can. */
  readonly reason?: string | undefined;
  readonly onOpen?: () => void;
  readonly onConfirm: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A button that asks first. The reason why it is disabled is shown on hover, and read out. */
function Action({ reason, look = 'danger', ...props }: ActionProps) {
  return (
    <span title={reason} className="inline-flex">
      <Confirm {...props} look={look} disabled={reason !== undefined} />
      {reason !== undefined && <span className="sr-only">{reason}</span>}
    </span>
  );
}

interface RevisionActionProps extends Pick<ActionProps, 'action' | 'look' | 'reason'> {
  /** The revision that is meant at present. */
  readonly revision: Revision | undefined;
  readonly question: (number: number | undefined) => string;
  readonly onConfirm: (revision_id: string) => Promise<unknown>;
  readonly children: (number: number | undefined) => string;
}

/** Asks about the revision that was meant when it was opened, and refuses when another one is meant since. */
function RevisionAction({ revision, question, onConfirm, children, ...props }: RevisionActionProps) {
  const [asked, setAsked] = useState(revision);
  async function confirm() {
    if (asked === undefined || asked.id !== revision?.id)
      throw new Error('Another revision has come meanwhile. Nothing was done: close this and look again.');
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
