import type { Actor } from '../auth/actor.ts';
import type { BrowserTokens } from '../auth/browser-tokens.ts';
import { scopeIncludes } from '../auth/scopes.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { Forbidden } from '../core/errors.ts';
import type { Token, TokenCreate } from '../schemas/tokens.ts';
import type { AssistantService } from './assistants/assistants.ts';

export type TokenService = ReturnType<typeof tokenService>;

/** Short-lived tokens that a backend creates with its API key for browsers. */
export function tokenService(tokens: BrowserTokens, assistants: AssistantService, clock: Clock) {
  return {
    /** Throws `Forbidden` without an API key, or if its scope does not include the token's. */
    async create(actor: Actor, input: TokenCreate): Promise<Token> {
      const { user, thread_id, scope, ttl_seconds } = input;
      if (actor.key === undefined) throw new Forbidden('Creating a token requires an API key.');
      if (!scopeIncludes(actor.scope, scope)) {
        throw new Forbidden(
          `A key with the scope "${actor.scope}" cannot create a token with the scope "${scope}".`,
        );
      }
      const assistant = input.assistant_id && (await assistants.resolve(actor, input.assistant_id));
      const expires_at = Math.floor(clock.now() / 1000) + ttl_seconds;
      const grant = {
        user,
        thread_id,
        scope,
        ...(assistant ? { assistant_id: assistant.assistant_id } : {}),
      };
      const token = await tokens.issue(actor.key, grant, expires_at);
      return { token, expires_at: timestamp(expires_at * 1000) };
    },
  };
}
