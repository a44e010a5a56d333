import { lstat, rm } from 'node:fs/promises';
import { diskUsageByFolder } from './process/usage.ts';

/** A revision of a deployment, as its folder and its row say. */
export interface StoredRevision {
  readonly id: string;
  readonly folder: string;
  /** When it was built, ISO-8601; `undefined` if it was not. */
  readonly built_at?: string | undefined;
  /** It serves, or is being built or started: never removed. */
  readonly in_use: boolean;
}

export interface KeepRules {
  /** How many built revisions are kept for a rollback, beside those in use. */
  readonly revisions: number;
  /** Of all revisions together. Those in use are kept whatever they occupy. */
  readonly max_bytes: number;
}

const DEFAULT_RULES: KeepRules = { revisions: 5, max_bytes: 20 * 1024 ** 3 };

interface Measured extends StoredRevision {
  readonly bytes: number;
}

/** Which revisions go: those that were not built, those beyond the newest, then the oldest until the rest fits. */
export function revisionsToRemove(revisions: readonly Measured[], rules: KeepRules): string[] {
  const idle = revisions.filter(({ in_use }) => !in_use);
  const newestFirst = idle
    .filter(({ built_at }) => built_at !== undefined)
    .sort((a, b) => (b.built_at as string).localeCompare(a.built_at as string));
  const newest = newestFirst.slice(0, rules.revisions);
  let bytes = revisions.filter(({ in_use }) => in_use).reduce((sum, revision) => sum + revision.bytes, 0);
  const fitting: string[] = [];
  for (const revision of newest) {
    bytes += revision.bytes;
    // Older ones are not kept in place of a newer one that is too large.
    if (bytes > rules.max_bytes) break;
    fitting.push(revision.id);
  }
  return idle.map(({ id }) => id).filter((id) => !fitting.includes(id));
}

/**
 * Removes the folders of revisions that are not kept; returns their ids. Files that revisions share count for the newest
 * of them, so that what an older one frees is not overestimated.
 */
export async function collectGarbage(
  revisions: readonly StoredRevision[],
  rules: KeepRules = DEFAULT_RULES,
): Promise<string[]> {
  const there = await Promise.all(revisions.map(({ folder }) => isFolder(folder)));
  const present = revisions.filter((_, at) => there[at]);
  const rank = ({ in_use, built_at = '' }: StoredRevision) => `${in_use ? 1 : 0}${built_at}`;
  const ordered = present.toSorted((a, b) => rank(b).localeCompare(rank(a)));
  const usage = await diskUsageByFolder(ordered.map(({ folder }) => folder));
  const measured = ordered.map((revision) => ({ ...revision, bytes: usage.get(revision.folder) ?? 0 }));
  const removed = revisionsToRemove(measured, rules);
  for (const { id, folder } of present) {
    // It removes links themselves, never what they point to.
    if (removed.includes(id)) await rm(folder, { recursive: true, force: true });
  }
  return removed;
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}
