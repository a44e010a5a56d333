import { createHash } from 'node:crypto';
import { processes } from './usage.ts';

/** User ids that systemd reserves for dynamic users, and that also exist in a container with 65,536 ids. */
const FIRST_UID = 61_184;
const LAST_UID = 65_519;

const inUse = new Set<number>();

/** A user that runs nothing else. */
export interface BuildUser extends Disposable {
  readonly uid: number;
}

/**
 * Picks an unprivileged user for a build; `undefined` unless the server runs as root. A key maps to the same user
 * unless that one is busy, so that the user owns its earlier cache files.
 */
export async function takeUser(key: string): Promise<BuildUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const running = new Set((await processes()).map(({ uid }) => uid));
  const count = LAST_UID - FIRST_UID + 1;
  const start = createHash('sha256').update(key).digest().readUInt32BE(0) % count;
  // The first user may still run an orphaned process of an earlier build, which the build kills.
  const isFree = (uid: number, at: number) => !inUse.has(uid) && (at === 0 || !running.has(uid));
  const candidates = Array.from({ length: count }, (_, at) => FIRST_UID + ((start + at) % count));
  const uid = candidates.find(isFree);
  if (uid === undefined) return undefined;
  inUse.add(uid);
  return { uid, [Symbol.dispose]: () => inUse.delete(uid) };
}
