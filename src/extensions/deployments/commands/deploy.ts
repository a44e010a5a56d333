import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Command, type FlagValues, SERVER_FLAGS, UsageError } from '../../../cli/command.ts';
import { targetServer } from '../../../cli/config.ts';
import type { Deployment, DeploymentSecret } from '../schemas/deployments.ts';
import { type ControlPlane, controlPlane } from './client/control-plane.ts';
import { outcomeOf, printEnd, queuedRevision } from './client/follow.ts';
import { uploadFolder } from './client/upload.ts';

const { url, key } = SERVER_FLAGS;

export const deploy: Command = {
  name: 'deploy',
  summary: 'Deploys a folder or a git repository to a running server, and waits until it serves',
  args: [{ name: 'source', text: 'a folder, or the URL of a git repository (default: the current folder)' }],
  flags: {
    url,
    key,
    name: { value: 'NAME', text: 'name of the deployment (default: that of the folder or repository)' },
    ref: { value: 'REF', text: 'branch of the repository, or a tag as refs/tags/<tag>' },
    config: {
      value: 'PATH',
      text: 'path of the configuration in the sources (default: langgraph.json, else agent.config.yaml)',
    },
    'build-on-push': { text: 'also deploys later pushes to the branch: see deployments hooks' },
    canary: {
      value: 'PERCENT',
      text: 'share of new threads and runs that the revision gets until deployments promote',
    },
    pin: { value: 'PIN', text: 'thread: threads stay with their revision; latest: they move to the newest' },
    'env-file': { value: 'FILE', text: 'environment of the graphs; replaces all stored variables' },
    wait: { text: 'waits until the revision serves (default)' },
    'no-wait': { text: 'returns once the revision is queued' },
    json: { text: 'prints the revision as JSON' },
  },
  async run(values) {
    const canary_percent = percentOf(values['canary']);
    const pin = pinOf(values['pin']);
    const source = await sourceOf(values['source'] ?? '.');
    const name = values['name'] ?? nameOf(source);
    const server = await targetServer({ ...values, config: undefined });
    const plane = controlPlane(server);
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const secrets = await secretsOf(values['env-file']);
    const deployment = await queue(plane, { name, source, values, secrets, canary_percent, pin, say });
    const isWaiting = values['no-wait'] === undefined;
    const revision = await queuedRevision(plane, deployment, isWaiting, say);
    if (values['json'] !== undefined) process.stdout.write(`${JSON.stringify(revision)}\n`);
    if (!isWaiting || revision.status === 'DEPLOYED') {
      if (values['json'] === undefined)
        process.stdout.write(`${String(deployment.source_config.custom_url)}\n`);
      return 0;
    }
    if (revision.status === 'BUILD_FAILED')
      await printEnd(plane, { id: deployment.id, revision_id: revision.id }, say);
    say(`agent-server: ${outcomeOf(revision)}`);
    return 1;
  },
};

function percentOf(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d?$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError('deploy: --canary must be a whole number of percent from 1 to 99');
}

function pinOf(text: string | undefined): 'latest' | 'thread' | undefined {
  if (text === undefined || text === 'latest' || text === 'thread') return text;
  throw new UsageError('deploy: --pin must be latest or thread');
}

type Source =
  | { readonly kind: 'git'; readonly url: string }
  | { readonly kind: 'folder'; readonly path: string };

const GIT_URL = /^(?:(?:https?|ssh|file):\/\/|[\w.-]+@[\w.-]+:)/;

async function sourceOf(text: string): Promise<Source> {
  if (GIT_URL.test(text)) return { kind: 'git', url: text };
  const path = resolve(text);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return { kind: 'folder', path };
  throw new UsageError(`deploy: ${text} is neither a folder nor the URL of a git repository`);
}

/** Same default as the official CLI, unless the folder has only the server's own file. */
function configIn(source: Source): string {
  const [official, own] = ['langgraph.json', 'agent.config.yaml'] as const;
  const has = (name: string) => source.kind === 'folder' && existsSync(join(source.path, name));
  return has(own) && !has(official) ? own : official;
}

/** Derives a name from the source. Throws a `UsageError` if none can be derived. */
function nameOf(source: Source): string {
  const last = source.kind === 'folder' ? basename(source.path) : (source.url.split(/[/:]/).at(-1) ?? '');
  const words = last
    .replace(/\.git$/, '')
    .toLowerCase()
    .split(/[^a-z0-9]/);
  const name = words.filter(Boolean).join('-').slice(0, 63);
  if (name === '') throw new UsageError('deploy: --name is required, because the source has no usable name');
  return name;
}

async function secretsOf(file: string | undefined): Promise<DeploymentSecret[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`deploy: --env-file ${file} cannot be read (${error.code})`);
  });
  return Object.entries(parseEnv(text)).map(([name, value = '']) => ({ name, value }));
}

interface Deploying {
  readonly name: string;
  readonly source: Source;
  readonly values: FlagValues;
  readonly secrets: DeploymentSecret[] | undefined;
  readonly canary_percent: number | undefined;
  readonly pin: 'latest' | 'thread' | undefined;
  readonly say: (line: string) => void;
}

/** Creates the deployment unless it exists, and queues a revision of the source. */
async function queue(
  plane: ControlPlane,
  { name, source, values, secrets, canary_percent, pin, say }: Deploying,
): Promise<Deployment> {
  const { ref, config = configIn(source) } = values;
  const known = await plane.find(name);
  const given = secrets && { secrets };
  // The first revision cannot be a canary: nothing else serves.
  const share = known && canary_percent !== undefined && { canary_percent };
  const pinned = pin && { pin };
  const isFollowed = values['build-on-push'] !== undefined;
  if (source.kind === 'git') {
    const body = {
      source_config: { repo_url: source.url, ...(isFollowed && { build_on_push: true }), ...pinned },
      source_revision_config: { langgraph_config_path: config, ...(ref !== undefined && { repo_ref: ref }) },
      ...given,
    };
    say(known ? `Deploying ${source.url} to "${name}"` : `Creating "${name}" from ${source.url}`);
    if (known) return plane.update(known.id, { revision_source: 'github', ...body, ...share });
    return plane.create({ name, source: 'github', ...body });
  }
  const deployment = known ?? (await plane.create({ name, source: 'internal_source' }));
  say(`Uploading ${source.path} to "${name}"`);
  const { upload_url, object_path } = await plane.uploadUrl(deployment.id);
  await uploadFolder(source.path, upload_url);
  return plane.update(deployment.id, {
    revision_source: 'internal_source',
    ...(pinned && { source_config: pinned }),
    source_revision_config: { source_tarball_path: object_path, langgraph_config_path: config },
    ...given,
    ...share,
  });
}
