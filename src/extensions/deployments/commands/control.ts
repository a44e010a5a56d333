import { oneLine } from '../../../cli/ask/sanitize.ts';
import { type Command, type Flag, type FlagValues, SERVER_FLAGS, UsageError } from '../../../cli/command.ts';
import { targetServer } from '../../../cli/config.ts';
import { StartFailure } from '../../../node.ts';
import type { Deployment, Revision } from '../schemas/deployments.ts';
import { type ControlPlane, controlPlane } from './client/control-plane.ts';
import { detailLines, detailsOf, urlOf } from './client/details.ts';
import { isFinal, outcomeOf, printLog, queuedRevision } from './client/follow.ts';

export const JSON_FLAG = { json: { text: 'prints JSON' } };
const REVISION_FLAG = { revision: { value: 'N', text: 'number or id of a revision (default: the newest)' } };
const NO_WAIT = { 'no-wait': { text: 'returns once the revision is queued' } };
const NAME = { name: 'name', text: 'the name of a deployment', required: true };

export const write = (text: string) => void process.stdout.write(`${text}\n`);

/** A command about one deployment. */
export function aboutOne(
  name: string,
  summary: string,
  flags: Readonly<Record<string, Flag>>,
  act: (plane: ControlPlane, deployment: Deployment, values: FlagValues) => Promise<number>,
): Command {
  return {
    name: `deployments ${name}`,
    summary,
    args: [NAME],
    flags: { ...SERVER_FLAGS, ...flags },
    async run(values) {
      const plane = controlPlane(await targetServer(values));
      return act(plane, await plane.require(values['name'] ?? ''), values);
    },
  };
}

const list: Command = {
  name: 'deployments list',
  summary: 'Lists the deployments of a running server',
  flags: { ...SERVER_FLAGS, ...JSON_FLAG },
  async run(values) {
    const deployments = await controlPlane(await targetServer(values)).list();
    if (values['json'] !== undefined) write(JSON.stringify(deployments));
    else
      for (const each of deployments)
        write(`${each.name.padEnd(24)} ${each.status.padEnd(8)} ${urlOf(each)}`);
    return 0;
  },
};

const show = aboutOne(
  'show',
  'Shows the state of a deployment, its newest revisions, and what to do next',
  JSON_FLAG,
  async (plane, deployment, { json }) => {
    const details = await detailsOf(plane, deployment);
    if (json !== undefined) write(JSON.stringify(details));
    else {
      for (const line of detailLines(details)) write(line);
      for (const revision of details.revisions) write(`  ${lineOf(revision)}`);
    }
    return 0;
  },
);

const logs = aboutOne(
  'logs',
  'Prints the output of a deployment, or of its build',
  {
    ...REVISION_FLAG,
    type: {
      value: 'TYPE',
      text: 'deploy or build (default: deploy, or build for a revision that never ran)',
    },
    follow: { short: 'f', text: 'keeps printing new lines' },
  },
  async (plane, deployment, values) => {
    const revision = await revisionIn(plane, deployment, values);
    const { type: kind = neverRan(revision) ? 'build' : 'deploy', follow } = values;
    if (kind !== 'build' && kind !== 'deploy')
      throw new UsageError('deployments logs: --type must be build or deploy');
    const { id: revision_id } = revision;
    await printLog(plane, { id: deployment.id, revision_id, kind }, follow !== undefined, write);
    return 0;
  },
);

/** Whether its project was never started: a revision whose check failed has output of its own. */
function neverRan({ status }: Revision): boolean {
  return ['CREATE_FAILED', 'BUILD_FAILED', 'SKIPPED'].includes(status);
}

const redeploy = aboutOne(
  'redeploy',
  'Deploys a revision again, without a build if its build is kept',
  { ...REVISION_FLAG, ...NO_WAIT, ...JSON_FLAG },
  async (plane, deployment, values) =>
    again(plane, deployment, await revisionIn(plane, deployment, values), values),
);

const rollback = aboutOne(
  'rollback',
  'Returns to the previous revision without a build, or ends a canary',
  { ...REVISION_FLAG, ...NO_WAIT, ...JSON_FLAG },
  async (plane, deployment, values) => {
    const canary = deployment.canary_revision_id;
    if (canary !== null && values['revision'] === undefined)
      return printed(await plane.interrupt(deployment.id, canary), values);
    const target =
      values['revision'] === undefined
        ? previousIn(await plane.revisions(deployment.id, 100), deployment)
        : await revisionIn(plane, deployment, values);
    return again(plane, deployment, target, values);
  },
);

const interrupt = aboutOne(
  'interrupt',
  'Ends a revision that is not deployed yet, or a canary',
  { ...REVISION_FLAG, ...JSON_FLAG },
  async (plane, deployment, values) => {
    const { id } = await revisionIn(plane, deployment, values);
    return printed(await plane.interrupt(deployment.id, id), values);
  },
);

const promote = aboutOne(
  'promote',
  'Makes a canary the active revision',
  JSON_FLAG,
  async (plane, deployment, values) => {
    const { id, name, canary_revision_id } = deployment;
    if (canary_revision_id === null)
      throw new StartFailure(`"${name}" has no canary: deploy one with agent-server deploy --canary PERCENT`);
    return printed(await plane.promote(id, canary_revision_id), values);
  },
);

const remove = aboutOne(
  'delete',
  'Stops a deployment and deletes its builds, threads and all other data',
  { force: { text: 'required, because deletion cannot be undone' } },
  async (plane, deployment, { force }) => {
    if (force === undefined) {
      throw new UsageError(
        `deployments delete: this deletes all data of "${deployment.name}"; confirm with --force`,
      );
    }
    await plane.delete(deployment.id);
    return 0;
  },
);

export const DEPLOYMENT_COMMANDS: readonly Command[] = [
  list,
  show,
  logs,
  redeploy,
  rollback,
  promote,
  interrupt,
  remove,
];

async function again(
  plane: ControlPlane,
  { id }: Deployment,
  target: Revision,
  values: FlagValues,
): Promise<number> {
  const deployment = await plane.redeploy(id, target.id);
  const isWaiting = values['no-wait'] === undefined;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const revision = await queuedRevision(plane, deployment, isWaiting, say);
  write(values['json'] === undefined ? lineOf(revision) : JSON.stringify(revision));
  return isWaiting && revision.status !== 'DEPLOYED' ? 1 : 0;
}

function printed(revision: Revision, { json }: FlagValues): number {
  write(json === undefined ? lineOf(revision) : JSON.stringify(revision));
  return 0;
}

/** The newest revision, or the one that `--revision` names. Throws a `StartFailure` if there is none. */
async function revisionIn(
  plane: ControlPlane,
  { id, name }: Deployment,
  values: FlagValues,
): Promise<Revision> {
  const given = values['revision'];
  const revisions = await plane.revisions(id, given === undefined ? 1 : 100);
  const found = revisions.find(
    (each) => given === undefined || given === each.id || given === String(each.number),
  );
  if (found) return found;
  throw new StartFailure(`"${name}" has no revision${given === undefined ? '' : ` ${given}`}`);
}

/** The revision that served before the active one and whose build is still stored. */
function previousIn(revisions: readonly Revision[], { name, active_revision_id }: Deployment): Revision {
  const active = revisions.find(({ id }) => id === active_revision_id);
  const earlier = revisions.find(
    ({ status, is_built, number }) => status === 'DEPLOYED' && is_built && number < (active?.number ?? 0),
  );
  if (earlier) return earlier;
  throw new StartFailure(
    `"${name}" has no earlier revision whose build is still stored: see agent-server deployments show`,
  );
}

function lineOf(revision: Revision): string {
  const { number, id, created_at, commit } = revision;
  const what = commit === null ? '' : ` ${commit.sha.slice(0, 8)} ${oneLine(commit.message ?? '')}`;
  return `#${number} ${id} ${created_at} ${stateOf(revision)}${what}`;
}

function stateOf(revision: Revision): string {
  const { status, is_active, is_canary, canary_percent } = revision;
  if (is_canary) return `CANARY ${canary_percent} %`;
  const isReplaced = status === 'DEPLOYED' && !is_active && isFinal(revision);
  return isReplaced ? 'REPLACED' : oneLine(outcomeOf(revision));
}
