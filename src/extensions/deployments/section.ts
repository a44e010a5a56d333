import { resolve } from 'node:path';
import type { z } from 'zod';
import type { Variable } from '../../config/env.ts';
import {
  type Config,
  type ConfigProblem,
  type ConfigValues,
  hasAuthentication,
} from '../../config/schema.ts';
import { sectionOf } from '../../config/section.ts';
import { boolean, group, integer, text } from '../../config/value-types.ts';
import { isObject } from '../../core/json.ts';
import { DEPLOYMENT_NAME } from './schemas/deployments.ts';

/** Limits on building deployments, and how they are served. */
const Deployments = group({
  enabled: boolean()
    .default(false)
    .describe(
      'Serves `/v2/deployments`, and builds and runs the code that callers with the scope `deployments:write` send. Needs the role `all`. See [deployments](deployments.md).',
    ),
  root: text()
    .regex(DEPLOYMENT_NAME, 'must be a name of 1 to 63 of the characters a-z, 0-9, - and _')
    .optional()
    .describe(
      'Name of a deployment that is also served at the root of the server: its assistants, threads and everything except [a few paths](deployments.md#at-the-root). The server itself must then have no graphs.',
    ),
  folder: text()
    .default('.agent-server/deployments')
    .describe(
      'Folder of sources, builds, logs and databases of the deployments, relative to `storage.folder`.',
    ),
  keep: integer(1, 100, 'builds')
    .default(5)
    .describe('Number of builds kept per deployment, so that a rollback to them needs no new build.'),
  hosts: integer(1, 32, 'hosts')
    .default(1)
    .describe('Processes that execute the graphs of each deployment; its code never runs in the server.'),
  max_connections: integer(5, 1000, 'connections')
    .default(8)
    .describe(
      'PostgreSQL. Connections that each deployment may open, in addition to those of the server (`storage.max_connections`).',
    ),
  drain_timeout_seconds: integer(0, 86_400, 'seconds')
    .default(180)
    .describe(
      'How long runs of an old revision may continue in its own processes after a switch. After that they continue in the new revision, from their next checkpoint.',
    ),
  idle_timeout_seconds: integer(1, 86_400, 'seconds')
    .default(300)
    .describe(
      'How long an earlier revision that [threads stay with](deployments.md#threads-that-stay-with-their-revision) keeps its processes after its last run and request. It is loaded again when a thread needs it.',
    ),
  build_timeout_seconds: integer(10, 86_400, 'seconds')
    .default(900)
    .describe('Maximum time to fetch, build and check a revision.'),
  max_build_memory_mb: integer(128, 1_000_000, 'megabytes')
    .default(4096)
    .describe('Maximum memory of a build.'),
  max_build_disk_mb: integer(16, 1_000_000, 'megabytes')
    .default(2048)
    .describe('Maximum disk space of a build.'),
  max_disk_mb: integer(16, 100_000_000, 'megabytes')
    .default(20_480)
    .describe(
      'Maximum disk space for builds and caches of all deployments together. The oldest unused ones are deleted first; a build that still does not fit fails.',
    ),
  poll_seconds: integer(0, 86_400, 'seconds')
    .default(0)
    .describe(
      'How often repositories of deployments with `build_on_push` are polled for new commits, for servers that hooks cannot reach. 0: never.',
    ),
  ignore_scripts: boolean()
    .default(false)
    .describe('Installs packages without their `preinstall` and `postinstall` scripts.'),
  allow_local_sources: boolean()
    .default(false)
    .describe(
      "Allows `file:` URLs as sources: anyone who may deploy can then read this machine's repositories.",
    ),
});

export const DEPLOYMENTS = { path: 'deployments', schema: Deployments.prefault({}) };

export type DeploymentSettings = z.output<typeof Deployments>;

/** The value of the section, with the absolute path of the folder. */
export function deploymentSettings(config: Pick<Config, 'root' | 'storage'>): DeploymentSettings {
  const settings = sectionOf(config, DEPLOYMENTS);
  return { ...settings, folder: resolve(config.root, config.storage.folder ?? '', settings.folder) };
}

/** Whether a configuration, as written or complete, enables deployments. */
export function enablesDeployments(config: object): boolean {
  const written = isObject(config) ? config['deployments'] : undefined;
  return isObject(written) && Deployments.shape.enabled.safeParse(written['enabled']).data === true;
}

/** What is wrong with the section together with other keys. */
export function deploymentProblems(config: ConfigValues): ConfigProblem[] {
  const { enabled, root } = sectionOf(config, DEPLOYMENTS);
  const hasGraphs = Object.keys(config.graphs).length > 0;
  const problems: ConfigProblem[] = [];
  const add = (key: keyof DeploymentSettings, message: string) =>
    problems.push({ path: ['deployments', key], message });
  if (enabled && config.server.role !== 'all')
    add('enabled', 'requires server.role: all, because one process builds and serves');
  // The install scripts of any package reach the server's port from its own machine.
  if (enabled && !hasAuthentication(config))
    add('enabled', 'requires authentication: set AGENT_SERVER_API_KEYS (or server.api_keys)');
  if (root === undefined) return problems;
  // The root serves either the graphs of the server or one deployment.
  if (!enabled && hasGraphs) add('root', 'requires deployments.enabled');
  if (enabled && hasGraphs)
    add(
      'root',
      'cannot be combined with graphs, which would be unreachable: remove one of the two, or deploy the graphs as well',
    );
  return problems;
}

export const VARIABLES: readonly Variable[] = [
  { name: 'AGENT_SERVER_DEPLOYMENTS', key: 'deployments.enabled' },
  { name: 'AGENT_SERVER_ROOT_DEPLOYMENT', key: 'deployments.root' },
];
