import { createHash } from 'node:crypto';
import type { Actor } from '../auth/actor.ts';
import { Conflict } from '../core/errors.ts';
import { isStorageFailure } from '../core/failure-class.ts';
import { canonicalJson } from '../db/json.ts';
import type { Run } from '../schemas/runs.ts';
import type {
  ClaimedKey,
  IdempotencyKey,
  IdempotencyRepository,
  KeyClaim,
  StoredResponse,
} from '../storage/idempotency.ts';

const RETENTION_MS = 24 * 60 * 60_000;
/** Far longer than creating a resource takes; waiting for a run does not count. */
const CLAIM_TIMEOUT_MS = 60_000;

/** A request in progress under an idempotency key. */
export interface IdempotencyContext extends ClaimedKey {
  /** The run that an earlier request with this key created. */
  readonly run?: Run;
}

export type IdempotencyService = ReturnType<typeof idempotencyService>;

/**
 * Requests with an `Idempotency-Key`. A run commits in one transaction with its key. Other responses are stored before
 * they are sent: a crash before that may repeat the effect (at-least-once).
 */
export function idempotencyService({ keys, worker_id }: { keys: IdempotencyRepository; worker_id: string }) {
  /** Requests in progress in this process, by owner and key. */
  const inProgress = new Map<string, IdempotencyContext>();
  /** Claims and releases in progress in this process, by owner and key. */
  const turns = new Map<string, Promise<void>>();

  /**
   * One claim or release of a key at a time: to a second claim, the first would look abandoned, and a release must not
   * delete the claim of a retry.
   */
  async function inTurn<T>(context: IdempotencyContext, work: () => Promise<T>): Promise<T> {
    const name = keyOf(context);
    while (turns.has(name)) await turns.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    turns.set(name, promise);
    try {
      return await work();
    } finally {
      turns.delete(name);
      resolve();
    }
  }

  async function claim(context: IdempotencyContext, request: string): Promise<KeyClaim> {
    const is_processing = inProgress.has(keyOf(context));
    const rules = { retention_ms: RETENTION_MS, claim_ms: CLAIM_TIMEOUT_MS, worker_id, is_processing };
    return keys.claim(context, request, rules);
  }

  function begun(context: IdempotencyContext): IdempotencyContext {
    inProgress.set(keyOf(context), context);
    return context;
  }

  /** Call after storage: a retry that arrives in between must not mistake the claim for an abandoned one. */
  function ended(context: IdempotencyContext): void {
    // A retry may hold the key by now.
    if (inProgress.get(keyOf(context)) === context) inProgress.delete(keyOf(context));
  }

  return {
    /** Returns the stored response, or a context to execute. Throws `Conflict` if the key is in use. */
    async begin(
      actor: Actor,
      key: string,
      request: { method: string; url: string; body: unknown },
    ): Promise<IdempotencyContext | { answer: StoredResponse }> {
      const context = { owner: actor.principal, key };
      const hash = createHash('sha256').update(canonicalJson(request)).digest('base64url');
      const use = await inTurn(context, async () => {
        const claimed = await claim(context, hash);
        return claimed.outcome === 'new'
          ? { ...claimed, context: begun({ ...context, claimed_until: claimed.claimed_until }) }
          : claimed;
      });
      switch (use.outcome) {
        case 'new':
          return use.context;
        case 'run made':
          return { ...context, run: use.run };
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
      await keys.saveResponse(context, answer).finally(() => ended(context));
    },

    /**
     * For a request without effect. A retry that has claimed the key since keeps it. If storage is unavailable, only this
     * process knows that the key is free.
     */
    release(context: IdempotencyContext): Promise<void> {
      return inTurn(context, async () => {
        if (inProgress.get(keyOf(context)) !== context) return;
        try {
          await keys.release(context, worker_id);
        } catch (error) {
          if (!isStorageFailure(error)) throw error;
        } finally {
          ended(context);
        }
      });
    },

    /** The response follows a run, which the key already stores. */
    detach: ended,
  };
}

function keyOf({ owner, key }: IdempotencyKey): string {
  return JSON.stringify([owner, key]);
}
