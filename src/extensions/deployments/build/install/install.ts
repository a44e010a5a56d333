import { join } from 'node:path';
import type { BuildContext } from '../build-context.ts';
import type { BuildFolders } from '../folders.ts';
import type { Sandbox } from '../process/sandbox.ts';
import type { InstallPlan } from '../project/package-manager.ts';
import type { PackageManager } from '../request.ts';
import { installArguments, managerPath, type ProjectCommands } from './commands.ts';
import { requireLocalPackages } from './local-packages.ts';
import { packagesFingerprint, reuseModules } from './reuse.ts';

export interface Installed {
  readonly package_manager: PackageManager;
  readonly reused_modules: boolean;
  /** Lets a later revision decide whether it may reuse the packages; `null` if it may not. */
  readonly fingerprint: string | null;
}

export interface InstallOptions {
  readonly context: BuildContext;
  readonly folders: BuildFolders;
  readonly sandbox: Sandbox;
  readonly commands: ProjectCommands;
  readonly plan: InstallPlan | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Installs the packages of a project: with its own command, by reuse of the previous revision, or with its package
 * manager.
 */
export async function installPackages(options: InstallOptions): Promise<Installed> {
  const { commands, context, folders, plan } = options;
  const { install_command, ignore_scripts = false } = context.request;
  const none = {
    package_manager: plan?.manager ?? 'none',
    reused_modules: false,
    fingerprint: null,
  } as const;
  const doing = 'installing the packages';
  if (install_command) {
    const argv = ['/bin/sh', '-c', install_command];
    await commands.run({ step: 'install', name: install_command, doing, argv, cwd: folders.root });
    return none;
  }
  if (!plan || plan.manager === 'none') {
    context.log('install', 'INFO', 'There is nothing to install: package.json has no dependencies.');
    return none;
  }
  describePlan(context, plan);
  await requireLocalPackages(folders.root, join(folders.root, plan.folder));
  const digest = await packagesFingerprint(folders.root, plan, ignore_scripts);
  const fingerprint = 'fingerprint' in digest ? digest.fingerprint : null;
  if (fingerprint !== null && (await reuse(options, fingerprint))) {
    context.log(
      'install',
      'INFO',
      `${plan.lock_file} is unchanged: the packages of the last revision are reused.`,
    );
    return { ...none, reused_modules: true, fingerprint };
  }
  if ('reason' in digest && context.request.previous !== undefined) {
    context.log('install', 'INFO', `Packages are reinstalled because ${digest.reason}.`);
  }
  const path = await managerPath(plan, commands, folders.home, options.env['PATH'] as string);
  const argv = installArguments(plan, ignore_scripts, folders.cache);
  const name = argv.filter((word) => !word.startsWith('/')).join(' ');
  // Newer versions of yarn have no option for this.
  const env = ignore_scripts ? { YARN_ENABLE_SCRIPTS: 'false' } : undefined;
  await commands.run({ step: 'install', name, doing, argv, cwd: join(folders.root, plan.folder), path, env });
  return { ...none, fingerprint };
}

function describePlan(context: BuildContext, plan: InstallPlan): void {
  const where = plan.folder ? ` in ${plan.folder}` : '';
  if (plan.ignored.length > 0) {
    const others = plan.ignored.join(', ');
    context.log(
      'install',
      'WARNING',
      `Several lock files${where}: ${plan.lock_file} is used, ${others} ignored.`,
    );
  }
  if (plan.lock_file) return;
  const text = `No lock file${where}: ${plan.manager} installs the newest versions that package.json allows.`;
  context.log('install', 'WARNING', `${text} Commit a lock file so that every build has the same packages.`);
}

async function reuse({ context, folders, sandbox }: InstallOptions, fingerprint: string): Promise<boolean> {
  const { previous, build_command } = context.request;
  return await reuseModules({
    previous,
    root: folders.root,
    fingerprint,
    uid: sandbox.uid,
    shares: !build_command,
    signal: context.signal,
  });
}
