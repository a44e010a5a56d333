import { boolean, group, integer, text } from '../value-types.ts';

/** What a deployment may use while it is built, and how it is served. */
export const Deployments = group({
  enabled: boolean()
    .default(false)
    .describe(
      'Serves `/v2/deployments`, and builds and runs the code that callers with the scope `deployments:write` send. Needs SQLite and the role `all`. See [deployments](deployments.md).',
    ),
  folder: text()
    .default('.agent-server/deployments')
    .describe(
      'Folder of sources, builds, logs and databases of the deployments, relative to the configuration.',
    ),
  keep: integer(1, 100, 'builds')
    .default(5)
    .describe('Builds of a deployment that are kept, so that a rollback to them needs no build.'),
  hosts: integer(1, 32, 'hosts')
    .default(1)
    .describe('Processes that execute the graphs of each deployment; its code never runs in the server.'),
  drain_timeout_seconds: integer(0, 86_400, 'seconds')
    .default(180)
    .describe(
      'How long runs of an old revision may go on in its own processes after a switch. Then they continue in the new revision, from their next checkpoint.',
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
    .describe("Allows `file:` URLs as sources: whoever deploys may then read this machine's repositories."),
});
