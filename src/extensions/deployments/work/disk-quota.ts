import type { DataPlane } from '../services/plane.ts';
import type { DeploymentRepository } from '../storage/deployment-repository.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import type { RevisionRepository } from '../storage/revisions.ts';

export interface QuotaDeps {
  readonly deployments: DeploymentRepository;
  readonly revisions: RevisionRepository;
  readonly files: DeploymentFiles;
  readonly plane: Pick<DataPlane, 'foldersInUse'>;
  /** Measures the disk usage of folders in total, bytes; a file with several links counts once. */
  readonly measure: (folders: readonly string[]) => Promise<number>;
  readonly rules: { readonly max_disk_mb: number };
}

/** Unit of `deployments.max_disk_mb`, bytes. */
const MB = 1024 ** 2;

/** A candidate for deletion: a build, or the cache of a deployment. */
interface Candidate {
  readonly name: string;
  readonly build_id?: string;
  /** Id of the build, or of the newest build that used the cache. Build ids sort by time. */
  readonly newest: string;
}

/** Enforces the disk quota of the builds and caches of all deployments. */
export interface Room {
  readonly used: number;
  readonly allowed: number;
}

/**
 * Measures a deployment after work on one of its revisions, then deletes the oldest builds and caches of all
 * deployments until they fit. Keeps those that serve, drain or belong to an unfinished revision, and `new_build_id`.
 * For the queue only: nothing may be built meanwhile.
 */
export async function makeRoom(name: string, deps: QuotaDeps, new_build_id?: string): Promise<Room> {
  const { files, rules } = deps;
  const allowed = rules.max_disk_mb * MB;
  const usages = new Map<string, number>();
  for (const each of await files.names()) {
    const known = each === name ? undefined : await files.usage(each);
    usages.set(each, known ?? (await measure(each, deps)));
  }
  const used = () => [...usages.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (used() <= allowed) return { used: used(), allowed };
  for (const candidate of await candidates([...usages.keys()], deps)) {
    if (used() <= allowed) break;
    if (candidate.build_id !== undefined && candidate.build_id === new_build_id) continue;
    // The space it frees depends on the files it shares with others.
    if (await remove(candidate, deps)) usages.set(candidate.name, await measure(candidate.name, deps));
  }
  return { used: used(), allowed };
}

async function measure(name: string, { files, measure }: QuotaDeps): Promise<number> {
  const bytes = await measure(files.measured(name));
  await files.saveUsage(name, bytes);
  return bytes;
}

/** Oldest first. */
async function candidates(names: readonly string[], { files }: QuotaDeps): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const name of names) {
    const ids = (await files.buildIds(name)).sort();
    for (const build_id of ids) found.push({ name, build_id, newest: build_id });
    found.push({ name, newest: ids.at(-1) ?? '' });
  }
  // At equal age delete the build first: the cache speeds up the next build.
  return found.sort((a, b) => (a.newest < b.newest ? -1 : a.newest > b.newest ? 1 : a.build_id ? -1 : 1));
}

/** Returns false if it is in use or does not exist. */
async function remove({ name, build_id }: Candidate, deps: QuotaDeps): Promise<boolean> {
  const { deployments, revisions, files, plane } = deps;
  if (build_id === undefined) return files.removeCache(name);
  if (plane.foldersInUse().has(files.build(name, build_id))) return false;
  const deployment = await deployments.findByName(name);
  if (deployment && !(await revisions.forgetBuild(deployment.deployment_id, build_id))) return false;
  await files.removeBuild(name, build_id);
  return true;
}
