import { text as textOf } from 'node:stream/consumers';
import { oneLine } from '../../../cli/ask/sanitize.ts';
import { type Command, columns, UsageError } from '../../../cli/command.ts';
import type { DeploymentHook, DeploymentHooksList } from '../schemas/hooks.ts';
import { aboutOne, JSON_FLAG, write } from './control.ts';

const note = (line: string) => void process.stderr.write(`${line}\n`);

const hooks = aboutOne(
  'hooks',
  'Shows the hooks that a deployment has received, and the URLs for git services',
  JSON_FLAG,
  async (plane, { id }, { json }) => {
    const list = await plane.hooks(id);
    if (json !== undefined) write(JSON.stringify(list));
    else for (const line of [...stateOf(list), ...list.resources.map(lineOf)]) write(line);
    return 0;
  },
);

const hookSecret = aboutOne(
  'hook-secret',
  'Creates the hook secret of a deployment and prints it once; it replaces the previous one',
  {},
  async (plane, { id }) => {
    const { secret, urls } = await plane.createHookSecret(id);
    // Only the secret goes to stdout, for `SECRET=$(agent-server deployments hook-secret …)`.
    for (const line of columns(Object.entries(urls))) note(oneLine(line));
    note('Enter the secret at the git service now: it cannot be shown again.');
    write(secret);
    return 0;
  },
);

const deployKey = aboutOne(
  'deploy-key',
  'Prints the public deploy key that gives the server access to a private repository over ssh',
  {
    new: { text: 'creates a new key first, which replaces the previous one' },
    delete: { text: 'deletes the key' },
    'forget-hosts': { text: 'deletes the pinned host keys: the next connection pins new ones' },
  },
  async (plane, { id, name }, values) => {
    if (values['forget-hosts'] !== undefined) await plane.deleteOf(id, 'host-keys');
    if (values['delete'] !== undefined) {
      await plane.deleteOf(id, 'deploy-key');
      return 0;
    }
    const key = await plane.deployKey(id, values['new'] === undefined ? 'GET' : 'POST');
    for (const host of key.host_keys) note(`pinned: ${oneLine(host)}`);
    if (key.public_key === null) {
      note(`agent-server: "${name}" has no deploy key: create one with --new`);
      return 1;
    }
    write(oneLine(key.public_key));
    return 0;
  },
);

const token = aboutOne(
  'token',
  'Stores a token, read from stdin, that gives the server access to a private repository over https',
  {
    username: {
      value: 'NAME',
      text: 'user name sent with the token (default: what the git service expects)',
    },
    delete: { text: 'deletes the token' },
  },
  async (plane, { id, name }, values) => {
    if (values['delete'] !== undefined) {
      await plane.deleteOf(id, 'repository-token');
      return 0;
    }
    const { username } = values;
    const { host } = await plane.setToken(id, {
      token: await tokenFromStdin(),
      ...(username !== undefined && { username }),
    });
    note(`"${name}" sends the token to ${oneLine(String(host))}, and to no other host.`);
    return 0;
  },
);

export const REPOSITORY_COMMANDS: readonly Command[] = [hooks, hookSecret, deployKey, token];

/** An argument would be seen by every user of the machine, and typed text would stay on the screen. */
async function tokenFromStdin(): Promise<string> {
  const given = process.stdin.isTTY ? '' : (await textOf(process.stdin)).trim();
  if (given !== '') return given;
  throw new UsageError(
    'deployments token: pass the token on stdin, such as: gh auth token | agent-server deployments token NAME',
  );
}

function stateOf({ branch, paused_because, secret_created_at, poll, urls }: DeploymentHooksList): string[] {
  const polled = poll && `every ${poll.every_seconds} s${poll.failure ? `: ${poll.failure.hint}` : ''}`;
  const rows = [
    ['branch', branch ?? String(paused_because)],
    [
      'secret',
      secret_created_at === null ? 'none: see deployments hook-secret' : `created ${secret_created_at}`,
    ],
    ['polling', polled ?? 'off: see deployments.poll_seconds'],
    ...Object.entries(urls),
  ];
  return columns(rows.map((row) => row.map(oneLine)));
}

function lineOf({ received_at, kind, event, outcome, reason, commit_sha, revision_id }: DeploymentHook) {
  const what = reason ?? `${commit_sha?.slice(0, 8) ?? 'the branch'} as revision ${revision_id}`;
  return oneLine(`${received_at} ${kind} ${event} ${outcome}: ${what}`);
}
