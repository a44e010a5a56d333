import { createHash } from 'node:crypto';
import type { Actor } from '../auth/actor.ts';
import { Conflict } from '../core/errors.ts';
import type { Run } from '../schemas/runs.ts';
import type { IdempotencyKey, IdempotencyRepository, KeptAnswer } from '../storage/idempotency.ts';
import { canonicalJson } from '../storage/json.ts';

const KEEP_MS = 24 * 60 * 60_000;
/** Much longer than a server needs to make something; the wait for a run does not count. */
const CLAIM_MS = 60_000;

/** A request that must make what it makes once. */
export interface Once extends IdempotencyKey {
  /** What the same request has made before. */
  readonly run?: Run;
}

export type IdempotencyService = ReturnType<typeof idempotencyService>;

/**
 * Requests with an `Idempotency-Key`. A run is kept with its key in one transaction. Other answers are kept before
 * they are sent: after a crash in between, what was made may be made again.
 */
export function idempotencyService({ keys }: { keys: IdempotencyRepository }) {
  return {
    /** The answer that was given before, or a request to execute. `Conflict` when the key is another request's. */
    async begin(
      actor: Actor,
      key: string,
      request: { method: string; url: string; body: unknown },
    ): Promise<Once | { answer: KeptAnswer }> {
      const owner = actor.principal;
      const hash = createHash('sha256').update(canonicalJson(request)).digest('base64url');
      const use = await keys.use({ owner, key }, hash, { keep_ms: KEEP_MS, claim_ms: CLAIM_MS });
      switch (use.outcome) {
        case 'new':
          return { owner, key };
        case 'run made':
          return { owner, key, run: use.run };
        case 'answered':
          return { answer: use.answer };
        case 'other request':
          throw new Conflict(
            'This Idempotency-Key was sent with another request. Each request needs its own.',
          );
        case 'in progress':
          throw new Conflict(
            'A request with this Idempotency-Key is being answered. Send it again in a moment.',
          );
      }
    },

    keep: (once: Once, answer: KeptAnswer): Promise<void> => keys.answer(once, answer),

    /** The request made nothing. */
    release: (once: Once): Promise<void> => keys.release(once),
  };
}
