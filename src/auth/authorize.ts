import { intersectVisibility, type Visibility } from '../storage/access/visibility.ts';
import type { AccessEvent, Actor } from './actor.ts';

/**
 * Asks whether somebody may do this at all, and to which rows: the answer goes into the query, so that a row of
 * somebody else is as if it were not there (DESIGN §4, invariant 9). Undefined: to all rows. Read `value` again
 * afterwards, for rules may change it. Throws `Forbidden`, or what the user's own code throws.
 */
export async function authorize(
  actor: Actor,
  event: AccessEvent,
  value: Record<string, unknown>,
): Promise<Visibility | undefined> {
  let visibility: Visibility | undefined;
  for (const rule of actor.rules) visibility = intersectVisibility(visibility, await rule(event, value));
  return visibility;
}
