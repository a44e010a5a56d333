import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timeoutSignal } from '../../../../core/timers.ts';
import type { GitAccess, GitSource } from '../request.ts';
import { gitRemote } from './git.ts';
import { type FoundRef, findRef } from './refs.ts';

export interface RefRequest extends GitAccess {
  readonly source: GitSource;
  readonly signal: AbortSignal;
  /**
   * Folder for temporary files of git, such as the deploy key. The caller removes what a killed process leaves there.
   * Default: the system's temporary folder.
   */
  readonly scratch?: string | undefined;
  /** Default: 60 s. */
  readonly seconds?: number | undefined;
}

export interface ResolvedRef extends FoundRef {
  /** Host keys to pin; only for a repository over ssh. */
  readonly known_hosts?: string | undefined;
}

const SECONDS = 60;
/** Limits of memory and disk, bytes: listing refs needs little. */
const MEMORY_BYTES = 512 * 1024 * 1024;
const DISK_BYTES = 64 * 1024 * 1024;

/** Looks up the commit that a ref currently points to. Rejects with a `BuildFailure` of the step `source`. */
export async function resolveRef({
  source,
  signal,
  seconds,
  scratch,
  ...access
}: RefRequest): Promise<ResolvedRef> {
  const folder = await mkdtemp(join(scratch ?? tmpdir(), 'agent-server-git-'));
  try {
    const remote = await gitRemote(source, access, {
      folder,
      measured: [folder],
      limits: { memory_bytes: MEMORY_BYTES, disk_bytes: DISK_BYTES },
      signal: AbortSignal.any([signal, timeoutSignal((seconds ?? SECONDS) * 1000)]),
    });
    const found = await findRef(remote, source.ref);
    return { ...found, known_hosts: await remote.signIn.knownHosts() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
