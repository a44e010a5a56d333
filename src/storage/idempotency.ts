import { toJson } from '../core/json.ts';
import type { Db, Transaction } from '../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../db/encryption/cipher.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import { NOW, nowPlus } from '../db/time.ts';
import type { Run } from '../schemas/runs.ts';

/** A key that a client sent with a request; another client's is another key. */
export interface IdempotencyKey {
  readonly owner: string;
  readonly key: string;
}

/** A reply as it was sent. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

export type KeyClaim =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'other request' }
  | { readonly outcome: 'in progress' }
  | { readonly outcome: 'run made'; readonly run: Run }
  | { readonly outcome: 'answered'; readonly answer: StoredResponse };

export interface KeyClaimRules {
  /** How long the key stands for its request, ms. */
  readonly keep_ms: number;
  /** A server that has not answered by then is gone, ms. */
  readonly claim_ms: number;
  /** The process that asks; whose lease has ended answers nothing any more. */
  readonly worker_id: string;
  /** This process is answering a request with the key right now: one that it gave up is open again. */
  readonly is_processing: boolean;
}

type Row = { request: string; run: Run | null; answer: StoredResponse | null };

export type IdempotencyRepository = ReturnType<typeof idempotencyRepository>;

/** Keys of requests that make something, so that the same request makes it once. */
export function idempotencyRepository(db: Db) {
  return {
    /** `request` tells requests apart, such as a hash. Of two at the same time one is `new`. */
    claim(key: IdempotencyKey, request: string, rules: KeyClaimRules): Promise<KeyClaim> {
      return db.transaction('async', (tx) => claimKey(tx, key, request, rules));
    },

    /** Before the answer is sent. */
    async saveResponse(key: IdempotencyKey, response: StoredResponse): Promise<void> {
      const sealed = db.cipher.encryptJson(ANSWER, toJson(response));
      await db.run(sql`update idempotency_keys set answer = ${sealed} where ${isKey(db.cipher, key)}`);
    },

    /** The request made nothing, and may be sent again. */
    async release(key: IdempotencyKey): Promise<void> {
      await db.run(sql`delete from idempotency_keys
        where ${isKey(db.cipher, key)} and run is null and answer is null`);
    },

    /** At the start of the only process on a database nobody is answering any request. */
    async releaseAll(): Promise<void> {
      await db.run(sql`delete from idempotency_keys where run is null and answer is null`);
    },

    /** At most `limit`; how many. */
    deleteExpired(limit: number): Promise<number> {
      return db.run(
        sql`delete from idempotency_keys where (owner, key) in (
          select owner, key from idempotency_keys where expires_at <= ${NOW} order by expires_at limit ${limit})`,
        'async',
      );
    },
  };
}

/** False when a server that was believed to be gone has made the run after all. */
export async function isPending(tx: Transaction, key: IdempotencyKey): Promise<boolean> {
  const open = await tx.get(sql`select 1 from idempotency_keys
    where ${isKey(tx.cipher, key)} and run is null and answer is null`);
  return open !== undefined;
}

/** Part of the transaction that makes the run: the key stands for it from then on. */
export async function saveRun(tx: Transaction, key: IdempotencyKey, run: Run): Promise<void> {
  const sealed = tx.cipher.encryptJson(RUN, toJson(run));
  await tx.run(sql`update idempotency_keys set run = ${sealed} where ${isKey(tx.cipher, key)}`);
}

const RUN = 'idempotency_keys.run';
const ANSWER = 'idempotency_keys.answer';

/** A hash of a short request could be guessed, and a key may be made of what was sent: with encryption both are tokens. */
const REQUEST = 'idempotency_keys.request';
const KEY = 'idempotency_keys.key';

const BLIND_INDEX = /^[0-9a-f]{24}$/;

/** A key from before encryption becomes a token, unless it was sent again since then. It is given as it is stored. */
export async function blindKey(tx: Transaction, { owner, key }: IdempotencyKey): Promise<void> {
  const { cipher } = tx;
  const plain = sql`owner = ${owner} and key = ${key}`;
  const row = await tx.get<Pick<Row, 'request'>>(sql`select request from idempotency_keys where ${plain}`);
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

/** Nobody answers the request any more that claimed the key. */
function isAbandoned({ worker_id, is_processing }: KeyClaimRules): Sql {
  const here = is_processing ? raw('false') : sql`idempotency_keys.worker_id = ${worker_id}`;
  return sql`(${here} or (idempotency_keys.worker_id <> ${worker_id} and not exists (
    select 1 from workers w where w.worker_id = idempotency_keys.worker_id and w.expires_at > ${NOW})))`;
}

async function claimKey(
  tx: Transaction,
  given: IdempotencyKey,
  plainRequest: string,
  rules: KeyClaimRules,
): Promise<KeyClaim> {
  const { keep_ms, claim_ms, worker_id } = rules;
  const { cipher } = tx;
  const request = cipher.blindIndex(REQUEST, plainRequest);
  const mine = isKey(cipher, given);
  await tx.run(sql`delete from idempotency_keys where ${mine} and expires_at <= ${NOW}`);
  const claimed = await tx.run(sql`
    insert into idempotency_keys (owner, key, request, claimed_until, expires_at, worker_id)
    values (${given.owner}, ${cipher.blindIndex(KEY, given.key)}, ${request}, ${nowPlus(claim_ms)}, ${nowPlus(keep_ms)},
      ${worker_id})
    on conflict (owner, key) do update set claimed_until = excluded.claimed_until, worker_id = excluded.worker_id
      where idempotency_keys.request = ${request} and idempotency_keys.run is null
        and idempotency_keys.answer is null and (idempotency_keys.claimed_until <= ${NOW} or ${isAbandoned(rules)})`);
  if (claimed > 0) return { outcome: 'new' };
  const row = await tx.get<Row>(sql`select request, run, answer from idempotency_keys where ${mine}`);
  if (!row) return { outcome: 'in progress' };
  const { request: first, run, answer } = decryptJsonColumns(cipher, row, { run: RUN, answer: ANSWER });
  if (first !== request) return { outcome: 'other request' };
  if (answer) return { outcome: 'answered', answer };
  return run ? { outcome: 'run made', run } : { outcome: 'in progress' };
}
