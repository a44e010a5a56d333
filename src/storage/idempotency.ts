import { Conflict } from '../core/errors.ts';
import { toJson } from '../core/json.ts';
import { columns } from '../db/columns.ts';
import type { Db, Transaction } from '../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../db/encryption/cipher.ts';
import { type DialectSql, FOR_UPDATE, raw, type Sql, sql } from '../db/sql.ts';
import { NOW, nowPlus } from '../db/time.ts';
import type { Run } from '../schemas/runs.ts';
import { isDead } from './processes.ts';
import type { Rider } from './riders.ts';

/** An idempotency key, scoped to its owner. */
export interface IdempotencyKey {
  readonly owner: string;
  readonly key: string;
}

/** The right to answer the request of a key: it ends when a retry claims the key. */
export interface ClaimedKey extends IdempotencyKey {
  /** Tells this claim from others of the key; undefined for a request that follows the run of an earlier one. */
  readonly claimed_until?: string | undefined;
}

/** A response as sent. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

export type KeyClaim =
  | { readonly outcome: 'new'; readonly claimed_until: string }
  | { readonly outcome: 'other request' }
  | { readonly outcome: 'in progress' }
  | { readonly outcome: 'run made'; readonly run: Run }
  | { readonly outcome: 'answered'; readonly answer: StoredResponse };

export interface KeyClaimRules {
  /** Retention of the key, ms. */
  readonly retention_ms: number;
  /** Claim timeout: an unanswered claim then counts as abandoned, ms. */
  readonly claim_ms: number;
  /** The claiming process; a claim is abandoned once its worker lease has expired. */
  readonly worker_id: string;
  /** This process is still handling a request with the key; otherwise its own claim is abandoned. */
  readonly is_processing: boolean;
}

export type IdempotencyRepository = ReturnType<typeof idempotencyRepository>;

/** Idempotency keys, which make retries of a request create a resource once. */
export function idempotencyRepository(db: Db) {
  return {
    /** `request` identifies the request, such as by a hash. Of concurrent claims one is `new`. */
    claim(key: IdempotencyKey, request: string, rules: KeyClaimRules): Promise<KeyClaim> {
      return db.transaction('async', (tx) => claimKey(tx, key, request, rules));
    },

    /** Call before sending the response. Stores nothing if a retry has claimed the key since. */
    async saveResponse(key: ClaimedKey, response: StoredResponse): Promise<void> {
      const encrypted = db.cipher.encryptJson(ANSWER, toJson(response));
      await db.run(sql`update idempotency_keys set answer = ${encrypted} where ${isClaim(db.cipher, key)}`);
    },

    /** Releases the key of a request without effect, which may be retried, unless another process has claimed it since. */
    async release(key: ClaimedKey, worker_id: string): Promise<void> {
      await db.run(sql`delete from idempotency_keys
        where ${isClaim(db.cipher, key)} and worker_id = ${worker_id} and run is null and answer is null`);
    },

    /** At startup of the only process on a database no claim is in progress. */
    async releaseAll(): Promise<void> {
      await db.run(sql`delete from idempotency_keys where run is null and answer is null`);
    },

    /** Deletes at most `limit`; returns how many. */
    deleteExpired(limit: number): Promise<number> {
      return db.run(
        sql`delete from idempotency_keys where (owner, key) in (
          select owner, key from idempotency_keys where expires_at <= ${NOW} order by expires_at limit ${limit})`,
        'async',
      );
    },
  };
}

/** Commits a run with the key of its request, which creates at most one run. */
export const idempotentRuns: Rider<IdempotencyKey> = {
  name: 'idempotency',

  async admit(tx, { run }, key) {
    if (!key || (await isPending(tx, key))) return undefined;
    return new Conflict(`Run ${run.run_id} already exists`);
  },

  enqueued(tx, { run }, key) {
    if (key) saveRun(tx, key, run);
  },
};

/**
 * `false` if a server presumed dead has created the run after all. Locks the key: two servers may add runs to different
 * threads for it, and the lock of a thread does not exclude the other one.
 */
async function isPending(tx: Transaction, key: IdempotencyKey): Promise<boolean> {
  const open = await tx.get(sql`select 1 from idempotency_keys
    where ${isKey(tx.cipher, key)} and run is null and answer is null ${FOR_UPDATE}`);
  return open !== undefined;
}

function saveRun(tx: Transaction, key: IdempotencyKey, run: Run): void {
  const encrypted = tx.cipher.encryptJson(RUN, toJson(run));
  tx.defer(sql`update idempotency_keys set run = ${encrypted} where ${isKey(tx.cipher, key)}`);
}

const RUN = 'idempotency_keys.run';
const ANSWER = 'idempotency_keys.answer';

/** Blinded with encryption: the hash of a short request can be guessed, and a key may contain request data. */
const REQUEST = 'idempotency_keys.request';
const KEY = 'idempotency_keys.key';

const BLIND_INDEX = /^[0-9a-f]{24}$/;

/** Blinds a key from before encryption (given in plaintext), unless it was sent again since then. */
export async function blindKey(tx: Transaction, { owner, key }: IdempotencyKey): Promise<void> {
  const { cipher } = tx;
  const plain = sql`owner = ${owner} and key = ${key}`;
  const row = await tx.get(
    sql`select ${columns('idempotency_keys', 'request')} from idempotency_keys where ${plain}`,
  );
  if (!row || BLIND_INDEX.test(row.request)) return;
  const again = await tx.get(sql`select 1 from idempotency_keys where ${isKey(cipher, { owner, key })}`);
  await tx.run(
    again
      ? sql`delete from idempotency_keys where ${plain}`
      : sql`update idempotency_keys set key = ${cipher.blindIndex(KEY, key)},
          request = ${cipher.blindIndex(REQUEST, row.request)} where ${plain}`,
  );
}

function isKey(cipher: Cipher, { owner, key }: IdempotencyKey): Sql {
  return sql`owner = ${owner} and key = ${cipher.blindIndex(KEY, key)}`;
}

/** As it was returned: in milliseconds. */
const CLAIM: DialectSql = {
  sqlite: raw('claimed_until'),
  postgres: raw(`date_trunc('milliseconds', claimed_until)`),
};

function isClaim(cipher: Cipher, key: ClaimedKey): Sql {
  const { claimed_until: until } = key;
  return sql`${isKey(cipher, key)} and ${until === undefined ? raw('run is not null') : sql`${CLAIM} = ${until}`}`;
}

/** The claim's owner no longer handles the request. */
function isAbandoned({ worker_id, is_processing }: KeyClaimRules): Sql {
  const here = is_processing ? raw('false') : sql`idempotency_keys.worker_id = ${worker_id}`;
  return sql`(${here} or (idempotency_keys.worker_id <> ${worker_id} and ${isDead(raw('idempotency_keys.worker_id'))}))`;
}

async function claimKey(
  tx: Transaction,
  given: IdempotencyKey,
  plainRequest: string,
  rules: KeyClaimRules,
): Promise<KeyClaim> {
  const { retention_ms, claim_ms, worker_id } = rules;
  const { cipher } = tx;
  const request = cipher.blindIndex(REQUEST, plainRequest);
  const mine = isKey(cipher, given);
  await tx.run(sql`delete from idempotency_keys where ${mine} and expires_at <= ${NOW}`);
  const claimed = await tx.get(sql`
    insert into idempotency_keys (owner, key, request, claimed_until, expires_at, worker_id)
    values (${given.owner}, ${cipher.blindIndex(KEY, given.key)}, ${request}, ${nowPlus(claim_ms)}, ${nowPlus(retention_ms)},
      ${worker_id})
    on conflict (owner, key) do update set claimed_until = excluded.claimed_until, worker_id = excluded.worker_id
      where idempotency_keys.request = ${request} and idempotency_keys.run is null
        and idempotency_keys.answer is null and (idempotency_keys.claimed_until <= ${NOW} or ${isAbandoned(rules)})
    returning ${columns('idempotency_keys', 'claimed_until')}`);
  if (claimed) return { outcome: 'new', ...claimed };
  const row = await tx.get(
    sql`select ${columns('idempotency_keys', 'request, run, answer')} from idempotency_keys where ${mine}`,
  );
  if (!row) return { outcome: 'in progress' };
  const { request: first, run, answer } = decryptJsonColumns(cipher, row, { run: RUN, answer: ANSWER });
  if (first !== request) return { outcome: 'other request' };
  if (answer) return { outcome: 'answered', answer };
  return run ? { outcome: 'run made', run } : { outcome: 'in progress' };
}
