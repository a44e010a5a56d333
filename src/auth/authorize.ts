import { intersectVisibility, type Visibility } from '../storage/access/visibility.ts';
import type { AccessEvent, Actor } from './actor.ts';

/**
 * Authorizes an event and returns the visibility to add to the query, so that hidden rows look missing (DESIGN §4,
 * invariant 9). `undefined` means all rows. Read `value` again afterwards: rules may modify it. Throws `Forbidden`, or
 * what custom handlers throw.
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
