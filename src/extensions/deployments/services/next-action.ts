import type { HealthCheck, NextAction } from '../schemas/health.ts';
import type { RepositoryAccess } from '../storage/repositories.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../storage/rows.ts';
import { followedBranch } from './pushes.ts';
import { httpsHost } from './repository.ts';

export interface DeploymentSituation {
  readonly deployment: DeploymentRow;
  readonly active: RevisionRow | undefined;
  readonly latest: RevisionRow | undefined;
  readonly check: HealthCheck | null;
  readonly access: RepositoryAccess | undefined;
  /** The server polls repositories for new commits. */
  readonly is_polled: boolean;
  /** The server requires authentication, and so do its deployments. */
  readonly has_keys: boolean;
  /** URL of the server, with its prefix. */
  readonly base: string;
}

/** The operator's next step for a deployment: problems that keep it from serving come first. */
export function nextAction(situation: DeploymentSituation): NextAction {
  const { deployment, active, latest, check } = situation;
  const serving =
    active && active.revision_id !== latest?.revision_id ? ` Revision ${active.number} keeps serving.` : '';
  if (!latest) {
    const text = 'Deploy some sources: nothing has been deployed yet.';
    return { text, command: deployCommand(situation) };
  }
  if (OPEN_STATUSES.some((status) => status === latest.status)) {
    const step = latest.build_steps.at(-1)?.name;
    const what = step === undefined ? 'The revision is queued' : `The revision is at step “${step}”`;
    return { text: `Wait. ${what}; interrupt it if it should not continue.${serving}`, command: null };
  }
  if (latest.failure) return afterFailure(situation, latest.failure.code, serving);
  if (check && !check.ok) {
    const command = `npx agent-server deployments logs ${deployment.name} --url ${situation.base}`;
    return { text: 'Find out why it is unhealthy: its log has the output of its processes.', command };
  }
  if (latest.revision_id !== active?.revision_id)
    return { text: `Deploy it again when you are ready.${serving}`, command: deployCommand(situation) };
  return afterPush(situation) ?? callIt(situation);
}

function deployCommand({ deployment: { name, source, source_config }, base }: DeploymentSituation): string {
  const from = source === 'github' ? (source_config.repo_url ?? '.') : '.';
  return `npx agent-server deploy ${from} --name ${name} --url ${base}`;
}

/** `serving`: a sentence about the revision that keeps serving. */
function afterFailure(situation: DeploymentSituation, code: string, serving: string): NextAction {
  const { deployment, access, base } = situation;
  const command = (verb: string, flags = '') =>
    `npx agent-server deployments ${verb} ${deployment.name}${flags} --url ${base}`;
  if (code === 'host_key_changed') {
    const text = `If the repository's host really has a new key, forget the pinned key and deploy again.${serving}`;
    return { text, command: command('deploy-key', ' --forget-hosts') };
  }
  if (code === 'authentication_required' || code === 'authentication_refused') {
    if (httpsHost(deployment.source_config.repo_url) !== undefined) {
      const text = `Store a token that can read the repository, then deploy again.${serving}`;
      return { text, command: `gh auth token | ${command('token')}` };
    }
    const text = `Add its deploy key to the repository, then deploy again.${serving}`;
    return { text, command: command('deploy-key', access?.public_key == null ? ' --new' : '') };
  }
  const text = `Fix what failed, then deploy again.${serving}`;
  return { text, command: deployCommand(situation) };
}

/** Why pushes that should be deployed are not. */
function afterPush({ deployment, access, is_polled, base }: DeploymentSituation): NextAction | undefined {
  if (!('branch' in followedBranch(deployment))) return undefined;
  if (is_polled && access?.poll_failure != null) {
    const text = `Pushes go unnoticed: the repository cannot be polled. ${access.poll_failure.hint}`;
    return { text, command: null };
  }
  if (is_polled || access?.hook_secret_at != null) return undefined;
  return {
    text: 'Set up a hook: pushes should be deployed, but nothing reports them.',
    command: `npx agent-server deployments hook-secret ${deployment.name} --url ${base}`,
  };
}

function callIt({ has_keys }: DeploymentSituation): NextAction {
  const keys = has_keys
    ? ' Callers need an API key of the deployment itself; create one in its Studio, for example.'
    : '';
  return { text: `Call it: its /docs page shows how.${keys}`, command: null };
}
