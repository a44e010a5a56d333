import { Forbidden } from '../core/errors.ts';
import { intersectVisibility, type Visibility } from '../storage/access/visibility.ts';
import type { AccessEvent, Actor } from './actor.ts';

/**
 * Authorizes an event and returns the visibility to add to the query, so that hidden rows look missing (invariant
 * 9). `undefined` means all rows. Read `value` again afterwards: rules may modify it. Throws `Forbidden`, or what custom
 * handlers throw.
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

/**
 * For resources of the whole server rather than of a user. The scope of a route is not enough: users of an
 * identity provider or of custom handlers have the scope `admin` within their own rows. `what`: plural, for the
 * message. Throws `Forbidden` for an actor with access rules.
 */
export function requireUnrestricted({ rules }: Actor, what: string): void {
  if (rules.length > 0)
    throw new Forbidden(
      `${what} are available only to unrestricted callers, such as a key with the scope "admin".`,
    );
}
