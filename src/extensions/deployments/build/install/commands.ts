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

/** Runs commands of the project, isolated as far as this machine supports it. */
export interface ProjectCommands {
  /** Throws a `BuildFailure` if the command fails. */
  run(command: ProjectCommand): Promise<void>;
}

export interface ProjectCommand {
  readonly step: BuildStep;
  /** Name of the command, as users know it. */
  readonly name: string;
  /** What the command does, to complete "while …". */
  readonly doing: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Folders prepended to `PATH`. */
  readonly path?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Environment of a build. It inherits only network and locale settings from the server. */
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
    // The server loads graphs from node_modules, not through Yarn's Plug'n'Play.
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
        env: { ...env, ...sandbox.env, ...command.env, PATH: [...path, env['PATH']].join(':') },
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

/** Install command of a package manager, with the options that make it respect the lock file. */
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
 * Finds the folders with the program of a package manager. If it is not installed, corepack may download it, also in
 * the version that package.json pins. Throws if neither is available.
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
      message: `The project uses ${manager}, which is not installed on the server.`,
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
