import { join } from 'node:path';
import type { BuildContext } from '../build-context.ts';
import { BuildFailure, type BuildStep } from '../build-failure.ts';
import type { BuildFolders } from '../folders.ts';
import { runCommand } from '../process/command.ts';
import { MARKER } from '../process/end-processes.ts';
import type { Sandbox } from '../process/sandbox.ts';
import { findOnPath } from '../process/tools.ts';
import type { InstallPlan } from '../project/package-manager.ts';
import { commandFailure } from './failures.ts';

/** Runs commands of the project, isolated as far as this machine can. */
export interface ProjectCommands {
  /** Throws the `BuildFailure` of what went wrong. */
  run(command: ProjectCommand): Promise<void>;
}

export interface ProjectCommand {
  readonly step: BuildStep;
  /** As users know it. */
  readonly name: string;
  /** Completes "while …". */
  readonly doing: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Folders that programs are searched in first. */
  readonly path?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The environment of a build: nothing of the server's but what reaches the network. */
export function buildEnvironment(context: BuildContext, folders: BuildFolders): Record<string, string> {
  const { cache, home, tmp } = folders;
  return {
    ...context.env,
    CI: 'true',
    NO_COLOR: '1',
    HOME: home,
    TMPDIR: tmp,
    [MARKER]: home,
    npm_config_audit: 'false',
    npm_config_cache: join(cache, 'npm'),
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    YARN_CACHE_FOLDER: join(cache, 'yarn'),
    YARN_ENABLE_TELEMETRY: '0',
    YARN_GLOBAL_FOLDER: join(cache, 'yarn-global'),
    // Graphs are loaded from node_modules, not by yarn's own resolution.
    YARN_NODE_LINKER: 'node-modules',
    BUN_INSTALL_CACHE_DIR: join(cache, 'bun'),
    COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
    COREPACK_HOME: join(cache, 'corepack'),
    ...context.request.build_env,
  };
}

export function projectCommands(
  context: BuildContext,
  folders: BuildFolders,
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): ProjectCommands {
  const { limits, folder } = context.request;
  return {
    async run(command) {
      const { step, argv, cwd, path = [] } = command;
      context.log(step, 'INFO', `$ ${command.name}`);
      const end = await runCommand({
        argv: await sandbox.wrap(argv, cwd),
        cwd,
        env: { ...env, ...command.env, PATH: [...path, env['PATH']].join(':') },
        uid: sandbox.uid,
        limits: {
          memory_bytes: limits.memory_bytes,
          disk_bytes: limits.disk_bytes,
          tasks: limits.tasks,
          folders: [folder, folders.cache],
          disk_before: folders.cache_before,
        },
        signal: context.signal,
        onLine: (line) => context.log(step, 'INFO', line),
      });
      const failure = commandFailure(command, end);
      if (failure) throw failure;
    },
  };
}

/** The install of a package manager: its program, and what makes it keep to the lock file. */
export function installArguments(plan: InstallPlan, ignore_scripts: boolean, cache: string): string[] {
  const { manager, lock_file, is_classic_yarn } = plan;
  const noScripts = ignore_scripts ? ['--ignore-scripts'] : [];
  if (manager === 'pnpm') {
    const frozen = lock_file ? '--frozen-lockfile' : '--no-frozen-lockfile';
    return ['pnpm', 'install', frozen, '--store-dir', join(cache, 'pnpm'), ...noScripts];
  }
  if (manager === 'yarn' && is_classic_yarn) {
    return [
      'yarn',
      'install',
      '--non-interactive',
      ...(lock_file ? ['--frozen-lockfile'] : []),
      ...noScripts,
    ];
  }
  if (manager === 'yarn') return ['yarn', 'install', ...(lock_file ? ['--immutable'] : ['--no-immutable'])];
  if (manager === 'bun') return ['bun', 'install', ...(lock_file ? ['--frozen-lockfile'] : []), ...noScripts];
  return ['npm', ...(lock_file ? ['ci'] : ['install', '--no-package-lock']), ...noScripts];
}

/**
 * Folders in which the program of a package manager is found. What is not installed, corepack may bring, also in the
 * version that package.json names. Throws if neither is there.
 */
export async function managerPath(
  plan: InstallPlan,
  commands: ProjectCommands,
  home: string,
  search: string,
): Promise<string[]> {
  const { manager, manifest } = plan;
  const isInstalled = (await findOnPath(manager, search)) !== undefined;
  const isPinned =
    typeof manifest['packageManager'] === 'string' && manifest['packageManager'].startsWith(`${manager}@`);
  const canBring =
    (manager === 'pnpm' || manager === 'yarn') && (await findOnPath('corepack', search)) !== undefined;
  if (isInstalled && !(isPinned && canBring)) return [];
  if (!canBring) {
    throw new BuildFailure('install', {
      code: 'package_manager_missing',
      message: `The project is installed with ${manager}, which the server does not have.`,
      hint: `Have the operator of the server install ${manager}, or use npm and commit its lock file.`,
    });
  }
  const folder = join(home, 'bin');
  await commands.run({
    step: 'install',
    name: `corepack enable ${manager}`,
    doing: `preparing ${manager}`,
    argv: [
      '/bin/sh',
      '-c',
      'mkdir -p "$1" && exec corepack enable --install-directory "$1" "$2"',
      'sh',
      folder,
      manager,
    ],
    cwd: home,
  });
  return [folder];
}
