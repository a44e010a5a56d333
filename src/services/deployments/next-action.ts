import type { HealthCheck, NextAction } from '../../schemas/deployment-health.ts';
import type { RepositoryAccess } from '../../storage/deployments/repositories.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../../storage/deployments/rows.ts';
import { followedBranch } from './pushes.ts';
import { httpsHost } from './repository.ts';

export interface DeploymentSituation {
  readonly deployment: DeploymentRow;
  readonly active: RevisionRow | undefined;
  readonly latest: RevisionRow | undefined;
  readonly check: HealthCheck | null;
  readonly access: RepositoryAccess | undefined;
  /** The server asks repositories for new commits. */
  readonly is_polled: boolean;
  /** Callers of the server authenticate, and so do those of its deployments. */
  readonly has_keys: boolean;
  /** URL of the server, with its prefix. */
  readonly base: string;
}

/** What the operator of a deployment can do next: what keeps it from serving comes first. */
export function nextAction(situation: DeploymentSituation): NextAction {
  const { deployment, active, latest, check } = situation;
  const serving =
    active && active.revision_id !== latest?.revision_id ? ` Revision ${active.number} goes on serving.` : '';
  if (!latest) {
    const text = 'Send it sources: nothing has been deployed yet.';
    return { text, command: deployCommand(situation) };
  }
  if (OPEN_STATUSES.some((status) => status === latest.status)) {
    const step = latest.build_steps.at(-1)?.name;
    const what = step === undefined ? 'It waits for its turn' : `It is at the step “${step}”`;
    return { text: `Wait. ${what}; interrupt it if it should not go on.${serving}`, command: null };
  }
  if (latest.failure) return afterFailure(situation, latest.failure.code, serving);
  if (check && !check.ok) {
    const command = `npx agent-server deployments logs ${deployment.name} --url ${situation.base}`;
    return { text: 'See why it is not healthy: its log has what its processes print.', command };
  }
  if (latest.revision_id !== active?.revision_id)
    return { text: `Deploy it again when you want to.${serving}`, command: deployCommand(situation) };
  return afterPush(situation) ?? callIt(situation);
}

function deployCommand({ deployment: { name, source, source_config }, base }: DeploymentSituation): string {
  const from = source === 'github' ? (source_config.repo_url ?? '.') : '.';
  return `npx agent-server deploy ${from} --name ${name} --url ${base}`;
}

/** `serving`: a sentence about what serves all the same. */
function afterFailure(situation: DeploymentSituation, code: string, serving: string): NextAction {
  const { deployment, access, base } = situation;
  const command = (verb: string, flags = '') =>
    `npx agent-server deployments ${verb} ${deployment.name}${flags} --url ${base}`;
  if (code === 'host_key_changed') {
    const text = `If the host of the repository has a new key, forget the pinned one, and deploy again.${serving}`;
    return { text, command: command('deploy-key', ' --forget-hosts') };
  }
  if (code === 'authentication_required' || code === 'authentication_refused') {
    if (httpsHost(deployment.source_config.repo_url) !== undefined) {
      const text = `Store a token that may read the repository, and deploy again.${serving}`;
      return { text, command: `gh auth token | ${command('token')}` };
    }
    const text = `Add its deploy key to the repository, and deploy again.${serving}`;
    return { text, command: command('deploy-key', access?.public_key == null ? ' --new' : '') };
  }
  const text = `Put right what failed, and deploy again.${serving}`;
  return { text, command: deployCommand(situation) };
}

/** What keeps pushes from being deployed that should be. */
function afterPush({ deployment, access, is_polled, base }: DeploymentSituation): NextAction | undefined {
  if (!('branch' in followedBranch(deployment))) return undefined;
  if (is_polled && access?.poll_failure != null) {
    const text = `Pushes are not seen: the repository cannot be asked. ${access.poll_failure.hint}`;
    return { text, command: null };
  }
  if (is_polled || access?.hook_secret_at != null) return undefined;
  return {
    text: 'Set up a hook: pushes should be deployed, and nothing reports them.',
    command: `npx agent-server deployments hook-secret ${deployment.name} --url ${base}`,
  };
}

function callIt({ has_keys }: DeploymentSituation): NextAction {
  const keys = has_keys ? ' Its callers need keys that were created in it, such as in its Studio.' : '';
  return { text: `Call it: its /docs show how.${keys}`, command: null };
}
