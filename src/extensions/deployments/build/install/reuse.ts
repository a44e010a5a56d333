import { createHash } from 'node:crypto';
import { lstat, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { removeTree } from '../../../../core/remove-tree.ts';
import { errorCode } from '../build-failure.ts';
import { copyTree } from '../process/files.ts';
import { hasInstallScripts, type InstallPlan } from '../project/package-manager.ts';
import { readProjectFile, readProjectJson } from '../project/project-file.ts';
import { projectTree } from '../project/tree.ts';

/** What `build.json` records about the installed packages. */
export interface BuildRecord {
  /** Digest of everything that the installed packages depend on; `null` if that is unknown. */
  readonly fingerprint: string | null;
  /** Folders of installed packages, relative to the source. */
  readonly modules: readonly string[];
  /** User id of the owner; `null` for the server's user. */
  readonly uid: number | null;
}

const RECORD = 'build.json';

/** Files that affect an installation, besides the lock file. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml', 'bunfig.toml'];
const MANIFEST_KEYS = [
  'name',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bundledDependencies',
  'bundleDependencies',
  'overrides',
  'resolutions',
  'dependenciesMeta',
  'packageManager',
  'pnpm',
  'workspaces',
  'bin',
];
/** A package from the sources. Most package managers copy a `file:` folder when they install it. */
const LOCAL = /"file:([^"]+)"/g;

/**
 * Digest of what the packages depend on, or the reason for its absence. Install scripts of the project may read any of
 * its files, so an unchanged lock file does not imply the same result.
 */
export async function packagesFingerprint(
  root: string,
  plan: InstallPlan,
  ignore_scripts: boolean,
): Promise<{ fingerprint: string } | { reason: string }> {
  if (!plan.lock_file) return { reason: 'there is no lock file' };
  const hash = createHash('sha256');
  const add = (...parts: unknown[]) => hash.update(`${JSON.stringify(parts)}\n`);
  add(process.version, process.platform, process.arch, plan.manager, plan.folder, ignore_scripts);
  for (const name of [plan.lock_file, ...SETTINGS]) {
    add(name, (await readProjectFile(root, posix.join(plan.folder, name)))?.toString('base64') ?? null);
  }
  for (const path of (await projectTree(root)).manifests) {
    const json = await readProjectJson(root, path);
    if (!json) continue;
    if ('error' in json) return { reason: `${path} is not valid: ${json.error}` };
    if (!ignore_scripts && hasInstallScripts(json.value)) {
      return { reason: `${path} has install scripts` };
    }
    const values = MANIFEST_KEYS.map((key) => json.value[key] ?? null);
    add(path, ...values);
    for (const [, local = ''] of JSON.stringify(values).matchAll(LOCAL)) {
      const packed = await readProjectFile(root, posix.join(posix.dirname(path), local));
      if (!packed) return { reason: `${path} takes a package from ${local}` };
      add(local, createHash('sha256').update(packed).digest('hex'));
    }
  }
  return { fingerprint: hash.digest('hex') };
}

export interface Reuse {
  /** Folder of the revision whose packages are reused. */
  readonly previous: string | undefined;
  readonly root: string;
  readonly fingerprint: string;
  /** The user that the build runs as. */
  readonly uid: number | undefined;
  /** No code of the project runs later that could write into the files shared by both revisions. */
  readonly shares: boolean;
  readonly signal: AbortSignal;
}

/** Reuses the packages of the previous revision if an install would produce the same. Returns false if not. */
export async function reuseModules(reuse: Reuse): Promise<boolean> {
  const { previous, root, fingerprint, shares, signal } = reuse;
  const record = previous === undefined ? undefined : await readRecord(previous);
  if (!previous || !record || record.modules.length === 0 || record.fingerprint !== fingerprint) return false;
  // The former owner may have hard-linked files among them that this user must not receive.
  if (record.uid !== (reuse.uid ?? null)) return false;
  const pairs = record.modules.map((path) => [join(previous, 'source', path), join(root, path)] as const);
  for (const [from, to] of pairs) {
    if (!(await isFolder(from)) || (await exists(to)) || !(await isWithin(root, dirname(to)))) return false;
  }
  for (const [from, to] of pairs) await copyTree(from, to, shares, signal);
  return true;
}

/** Replaces any existing file, and never writes through a link. */
export async function writeRecord(folder: string, record: BuildRecord): Promise<void> {
  const file = join(folder, RECORD);
  await removeTree(file);
  await writeFile(file, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
}

/** Returns `undefined` if the folder has no completely built revision. */
async function readRecord(folder: string): Promise<BuildRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, RECORD), 'utf8')) as BuildRecord;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** Whether no part of the path is a link, which would redirect the copy. */
async function isWithin(root: string, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  return real === join(await realpath(root), folder.slice(root.length));
}
