import { createHash } from 'node:crypto';
import type { Actor } from '../auth/actor.ts';
import { Conflict, Unavailable } from '../core/errors.ts';
import { canonicalJson } from '../db/json.ts';
import type { Run } from '../schemas/runs.ts';
import type { IdempotencyKey, IdempotencyRepository, StoredResponse } from '../storage/idempotency.ts';

const RETENTION_MS = 24 * 60 * 60_000;
/** Much longer than a server needs to make something; the wait for a run does not count. */
const CLAIM_TIMEOUT_MS = 60_000;

/** A request that must make what it makes once. */
export interface IdempotencyContext extends IdempotencyKey {
  /** What the same request has made before. */
  readonly run?: Run;
}

export type IdempotencyService = ReturnType<typeof idempotencyService>;

/**
 * Requests with an `Idempotency-Key`. A run is kept with its key in one transaction. Other answers are kept before
 * they are sent: after a crash in between, what was made may be made again.
 */
export function idempotencyService({ keys, worker_id }: { keys: IdempotencyRepository; worker_id: string }) {
  /** Requests that are being answered here, by owner and key. */
  const inProgress = new Set<string>();

  return {
    /** The answer that was given before, or a request to execute. `Conflict` when the key is another request's. */
    async begin(
      actor: Actor,
      key: string,
      request: { method: string; url: string; body: unknown },
    ): Promise<IdempotencyContext | { answer: StoredResponse }> {
      const owner = actor.principal;
      const hash = createHash('sha256').update(canonicalJson(request)).digest('base64url');
      const is_processing = inProgress.has(keyOf({ owner, key }));
      const rules = { keep_ms: RETENTION_MS, claim_ms: CLAIM_TIMEOUT_MS, worker_id, is_processing };
      const use = await keys.claim({ owner, key }, hash, rules);
      switch (use.outcome) {
        case 'new':
          inProgress.add(keyOf({ owner, key }));
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

    async store(context: IdempotencyContext, answer: StoredResponse): Promise<void> {
      inProgress.delete(keyOf(context));
      await keys.saveResponse(context, answer);
    },

    /** The request made nothing. While storage is away this process knows it alone, and the key is open to it. */
    async release(context: IdempotencyContext): Promise<void> {
      inProgress.delete(keyOf(context));
      await keys.release(context).catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
      });
    },

    /** The answer is a stream: the run that it follows is kept with the key. */
    detach(context: IdempotencyContext): void {
      inProgress.delete(keyOf(context));
    },
  };
}

function keyOf({ owner, key }: IdempotencyKey): string {
  return JSON.stringify([owner, key]);
}
