import { posix } from 'node:path';
import { BuildFailure } from '../build-failure.ts';
import type { PackageManager } from '../request.ts';
import { readProjectFile, readProjectJson } from './project-file.ts';

export type Installer = Exclude<PackageManager, 'none'>;

/** How the packages of a project are installed. */
export interface InstallPlan {
  readonly manager: PackageManager;
  /** Folder of package.json and the lock file, relative to the root of the repository; empty for the root. */
  readonly folder: string;
  /** Name of the lock file; `undefined` if there is none. */
  readonly lock_file?: string | undefined;
  /** Other lock files in the folder, which are ignored. */
  readonly ignored: readonly string[];
  /** Generation of yarn, recognized by its lock file: 1, or later. */
  readonly is_classic_yarn: boolean;
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** With several lock files and no manager in package.json, the first entry wins, as in LangGraph's own builds. */
const LOCK_FILES: readonly (readonly [string, Installer])[] = [
  ['yarn.lock', 'yarn'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['package-lock.json', 'npm'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/**
 * Finds the folder to install in: from the configuration's folder upwards, the first with a lock file; otherwise the
 * first with a package.json. `undefined` if there is no package.json.
 */
export async function installPlan(root: string, configFolder: string): Promise<InstallPlan | undefined> {
  const plans: InstallPlan[] = [];
  for (let folder = configFolder; ; folder = posix.dirname(folder)) {
    if (folder === '.') folder = '';
    const plan = await planOf(root, folder);
    if (plan?.lock_file) return plan;
    if (plan) plans.push(plan);
    if (folder === '') return plans[0];
  }
}

async function planOf(root: string, folder: string): Promise<InstallPlan | undefined> {
  const path = posix.join(folder, 'package.json');
  const json = await readProjectJson(root, path);
  if (!json) return undefined;
  if ('error' in json) {
    throw new BuildFailure('config', {
      code: 'package_json_invalid',
      message: `${path} is not valid: ${json.error}.`,
      hint: 'Fix it, and push again.',
    });
  }
  const manifest = json.value;
  const locks: (readonly [string, Installer])[] = [];
  for (const lock of LOCK_FILES)
    if (await readProjectFile(root, posix.join(folder, lock[0]))) locks.push(lock);
  const named = namedManager(manifest);
  const chosen = locks.find(([, manager]) => manager === named) ?? locks[0];
  const [lock_file, manager] = chosen ?? [undefined, named ?? 'npm'];
  const yarnLock =
    manager === 'yarn' && lock_file && (await readProjectFile(root, posix.join(folder, lock_file)));
  return {
    manager: lock_file || hasDependencies(manifest) ? manager : 'none',
    folder,
    lock_file,
    ignored: locks.filter((lock) => lock !== chosen).map(([name]) => name),
    is_classic_yarn: yarnLock
      ? yarnLock.includes('# yarn lockfile v1')
      : !/^yarn@[^1]/.test(`${manifest['packageManager']}`),
    manifest,
  };
}

/** `"packageManager": "pnpm@10.2.0"`. */
function namedManager({ packageManager }: Record<string, unknown>): Installer | undefined {
  const name = typeof packageManager === 'string' ? packageManager.split('@', 1)[0] : undefined;
  return LOCK_FILES.find(([, manager]) => manager === name)?.[1];
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];

function hasDependencies(manifest: Readonly<Record<string, unknown>>): boolean {
  return (
    DEPENDENCIES.some((key) => Object.keys(manifest[key] ?? {}).length > 0) || hasInstallScripts(manifest)
  );
}

/** Lifecycle scripts of an install, which may depend on any file of the project. */
export function hasInstallScripts({ scripts }: Readonly<Record<string, unknown>>): boolean {
  return INSTALL_SCRIPTS.some((name) => typeof scripts === 'object' && scripts !== null && name in scripts);
}
