import type { Actor } from '../auth/actor.ts';
import { isUuid, nameId } from '../core/ids.ts';

/** Of the ids that stand for names of conversations; chosen once, for good. */
const NAMESPACE = 'f0c9a3c4-6b0e-4f5e-9d55-0b1f6f2b7a11';

/**
 * The thread of a conversation that a client calls by any name it likes: the id itself where the name is one, else an
 * id made from the name and its owner, so that one user's names never lead to the threads of another.
 */
export function threadOfName({ principal }: Actor, name: string): string {
  return isUuid(name) ? name.toLowerCase() : nameId(NAMESPACE, `${principal}\n${name}`);
}
