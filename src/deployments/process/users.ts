import { createHash } from 'node:crypto';
import { processes } from './usage.ts';

/** User ids that systemd reserves for services without an account, and that a container of 65,536 users has too. */
const FIRST_UID = 61_184;
const LAST_UID = 65_519;

const inUse = new Set<number>();

/** A user that runs nothing else. */
export interface BuildUser extends Disposable {
  readonly uid: number;
}

/**
 * An unprivileged user for a build, or `undefined` unless the server runs as root. The same key always gets the same
 * user, unless that one is busy, so that it owns what it wrote into the cache.
 */
export async function takeUser(key: string): Promise<BuildUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const running = new Set((await processes()).map(({ uid }) => uid));
  const count = LAST_UID - FIRST_UID + 1;
  const start = createHash('sha256').update(key).digest().readUInt32BE(0) % count;
  // A process that an earlier build left behind has the first one: the build ends it.
  const isFree = (uid: number, at: number) => !inUse.has(uid) && (at === 0 || !running.has(uid));
  const candidates = Array.from({ length: count }, (_, at) => FIRST_UID + ((start + at) % count));
  const uid = candidates.find(isFree);
  if (uid === undefined) return undefined;
  inUse.add(uid);
  return { uid, [Symbol.dispose]: () => inUse.delete(uid) };
}
