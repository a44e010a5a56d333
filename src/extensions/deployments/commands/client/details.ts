import { oneLine } from '../../../../cli/ask/sanitize.ts';
import { columns } from '../../../../cli/command.ts';
import type { BuildStep, Deployment, Revision } from '../../schemas/deployments.ts';
import type { DeploymentHealth, RevisionHealth } from '../../schemas/health.ts';
import type { DeploymentHooksList } from '../../schemas/hooks.ts';
import type { DeployKey, RepositoryToken } from '../../schemas/repositories.ts';
import type { ControlPlane } from './control-plane.ts';

/** Everything that `deployments show` prints. */
export interface DeploymentDetails extends Deployment {
  readonly health: DeploymentHealth;
  /** Newest first. */
  readonly revisions: readonly Revision[];
  readonly hooks: DeploymentHooksList;
  readonly deploy_key: DeployKey;
  readonly repository_token: RepositoryToken;
}

export async function detailsOf(plane: ControlPlane, deployment: Deployment): Promise<DeploymentDetails> {
  const { id } = deployment;
  const [health, revisions, hooks, deploy_key, repository_token] = await Promise.all([
    plane.health(id),
    plane.revisions(id),
    plane.hooks(id),
    plane.deployKey(id, 'GET'),
    plane.token(id),
  ]);
  return { ...deployment, health, revisions, hooks, deploy_key, repository_token };
}

/** Formats the details in two columns; the next action comes last. */
export function detailLines(details: DeploymentDetails): string[] {
  const { name, status, source, source_config, health, revisions, hooks } = details;
  const [latest] = revisions;
  const rows = [
    ['serves', servesText(health)],
    ['health', healthText(health)],
    ...(health.queue
      ? [['queue', `${plural(health.queue.pending, 'run')} pending, ${health.queue.running} running`]]
      : []),
    ...(source_config.pin === 'thread' ? [['threads', 'stay with the revision of their first run']] : []),
    ...health.revisions.map((each) => [`revision ${each.number}`, activityText(each)]),
    ...(latest && latest.build_steps.length > 0
      ? [[`steps of ${latest.number}`, latest.build_steps.map(stepText).join(', ')]]
      : []),
    ...(source === 'github'
      ? [...pushRows(hooks), ['repository', accessText(details)]]
      : [['source', 'uploads']]),
    ['next', health.next_action.text],
    ...(health.next_action.command === null ? [] : [['', health.next_action.command]]),
  ];
  return [
    `${name}  ${status}  ${urlOf(details)}`,
    ...columns(rows.map((row) => row.map(oneLine))),
    ...(latest ? ['revisions'] : []),
  ];
}

export function urlOf({ source_config }: Deployment): string {
  return oneLine(String(source_config.custom_url));
}

function servesText({ active_revision }: DeploymentHealth): string {
  return active_revision === null
    ? 'nothing yet'
    : `revision ${active_revision.number} since ${active_revision.since}`;
}

function healthText({ check }: DeploymentHealth): string {
  if (check === null) return 'unknown: no revision serves';
  const found = check.ok ? 'healthy' : `unhealthy: ${check.reason}`;
  return `${found} (checked at ${check.at})`;
}

/** `draining since …: 1 run, 2 requests; 1 of 1 hosts ready, 120 MB, 0 restarts`. */
function activityText({ state, since, runs, requests, hosts }: RevisionHealth): string {
  const work = `${plural(runs, 'run')}, ${plural(requests, 'request')}`;
  const ready = hosts.filter((host) => host.ready).length;
  const megabytes = hosts.reduce((sum, { memory_bytes }) => sum + (memory_bytes ?? 0), 0) / 1e6;
  const restarts = hosts.reduce((sum, host) => sum + host.restarts, 0);
  const processes =
    hosts.length === 0
      ? 'no hosts'
      : `${ready} of ${plural(hosts.length, 'host')} ready, ${Math.round(megabytes)} MB, ${plural(restarts, 'restart')}`;
  return `${state} since ${since}: ${work}; ${processes}`;
}

function stepText({ name, status, started_at, ended_at }: BuildStep): string {
  if (ended_at === null) return `${name} ${status}`;
  const took = `${((Date.parse(ended_at) - Date.parse(started_at)) / 1000).toFixed(1)} s`;
  return status === 'done' ? `${name} ${took}` : `${name} ${status} after ${took}`;
}

function pushRows({ branch, paused_because, secret_created_at, poll, resources }: DeploymentHooksList) {
  const [newest] = resources;
  const secret =
    secret_created_at === null ? 'no secret, so hooks are rejected' : `secret created ${secret_created_at}`;
  const last = newest ? `; last ${newest.received_at}, ${newest.outcome}` : '; none received';
  const polled = poll?.polled_at ? `, last at ${poll.polled_at}` : '';
  const polling = poll
    ? `every ${poll.every_seconds} s${polled}${poll.failure ? `: ${poll.failure.hint}` : ''}`
    : 'off';
  return [
    ['pushes', branch ?? String(paused_because)],
    ['hooks', secret + last],
    ['polling', polling],
  ];
}

function accessText({ source_config, deploy_key, repository_token }: DeploymentDetails): string {
  const ways = [
    ...(repository_token.is_set ? [`a token for ${repository_token.host}`] : []),
    ...(deploy_key.public_key === null ? [] : [`a deploy key created ${deploy_key.created_at}`]),
    ...(deploy_key.host_keys.length > 0 ? [`${plural(deploy_key.host_keys.length, 'pinned host key')}`] : []),
  ];
  return `${source_config.repo_url}, ${ways.length === 0 ? 'without credentials' : `with ${ways.join(', ')}`}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
