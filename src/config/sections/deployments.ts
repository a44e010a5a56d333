import { DEPLOYMENT_NAME } from '../../schemas/deployments.ts';
import { boolean, group, integer, text } from '../value-types.ts';

/** What a deployment may use while it is built, and how it is served. */
export const Deployments = group({
  enabled: boolean()
    .default(false)
    .describe(
      'Serves `/v2/deployments`, and builds and runs the code that callers with the scope `deployments:write` send. Needs the role `all`. See [deployments](deployments.md).',
    ),
  root: text()
    .regex(DEPLOYMENT_NAME, 'must be a name of 1 to 63 characters of a-z, 0-9, - and _')
    .optional()
    .describe(
      'Name of the deployment that answers at the root of the server, too: its assistants, threads and everything but [a few paths](deployments.md#at-the-root). The server itself must have no graphs then.',
    ),
  folder: text()
    .default('.agent-server/deployments')
    .describe(
      'Folder of sources, builds, logs and databases of the deployments, relative to `storage.folder`.',
    ),
  keep: integer(1, 100, 'builds')
    .default(5)
    .describe('Builds of a deployment that are kept, so that a rollback to them needs no build.'),
  hosts: integer(1, 32, 'hosts')
    .default(1)
    .describe('Processes that execute the graphs of each deployment; its code never runs in the server.'),
  max_connections: integer(5, 1000, 'connections')
    .default(8)
    .describe(
      'PostgreSQL. Connections that each deployment may open, beside those of the server (`storage.max_connections`).',
    ),
  drain_timeout_seconds: integer(0, 86_400, 'seconds')
    .default(180)
    .describe(
      'How long runs of an old revision may go on in its own processes after a switch. Then they continue in the new revision, from their next checkpoint.',
    ),
  idle_timeout_seconds: integer(1, 86_400, 'seconds')
    .default(300)
    .describe(
      'How long an earlier revision that [threads stay with](deployments.md#threads-that-stay-with-their-revision) keeps its processes after its last run and request. It is loaded again when a thread needs it.',
    ),
  build_timeout_seconds: integer(10, 86_400, 'seconds')
    .default(900)
    .describe('How long fetching, building and checking a revision may take.'),
  max_build_memory_mb: integer(128, 1_000_000, 'megabytes')
    .default(4096)
    .describe('Memory that a build may use.'),
  max_build_disk_mb: integer(16, 1_000_000, 'megabytes')
    .default(2048)
    .describe('Disk space that a build may use.'),
  max_build_processes: integer(64, 1_000_000, 'processes')
    .default(2048)
    .describe('Processes and threads that a build may have at the same time.'),
  max_disk_mb: integer(16, 100_000_000, 'megabytes')
    .default(20_480)
    .describe(
      'Disk space for the builds and caches of all deployments together. The oldest that nothing needs are deleted first; a build that does not fit then fails.',
    ),
  poll_seconds: integer(0, 86_400, 'seconds')
    .default(0)
    .describe(
      'How often repositories of deployments with `build_on_push` are asked for new commits, where no hook can reach the server. 0: never.',
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
