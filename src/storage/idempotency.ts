import { toJson } from '../core/json.ts';
import type { Run } from '../schemas/runs.ts';
import type { Db, Transaction } from './db.ts';
import { decode } from './json.ts';
import { sql } from './sql.ts';
import { NOW, nowPlus } from './time.ts';

/** A key that a client sent with a request; another client's is another key. */
export interface IdempotencyKey {
  readonly owner: string;
  readonly key: string;
}

/** A reply as it was sent. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

export type KeyUse =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'other request' }
  | { readonly outcome: 'in progress' }
  | { readonly outcome: 'run made'; readonly run: Run }
  | { readonly outcome: 'answered'; readonly answer: KeptAnswer };

export interface KeyRules {
  /** How long the key stands for its request, ms. */
  readonly keep_ms: number;
  /** A server that has not answered by then is gone, ms. */
  readonly claim_ms: number;
}

type Row = { request: string; run: Run | null; answer: KeptAnswer | null };

export type IdempotencyRepository = ReturnType<typeof idempotencyRepository>;

/** Keys of requests that make something, so that the same request makes it once. */
export function idempotencyRepository(db: Db) {
  return {
    /** `request` tells requests apart, such as a hash. Of two at the same time one is `new`. */
    use(key: IdempotencyKey, request: string, rules: KeyRules): Promise<KeyUse> {
      return db.transaction('relaxed', (tx) => use(tx, key, request, rules));
    },

    /** Before the answer is sent. */
    async answer({ owner, key }: IdempotencyKey, answer: KeptAnswer): Promise<void> {
      await db.run(sql`update idempotency_keys set answer = ${toJson(answer)}
        where owner = ${owner} and key = ${key}`);
    },

    /** The request made nothing, and may be sent again. */
    async release({ owner, key }: IdempotencyKey): Promise<void> {
      await db.run(sql`delete from idempotency_keys
        where owner = ${owner} and key = ${key} and run is null and answer is null`);
    },

    /** At the start of the only process on a database nobody is answering any request. */
    async releaseAll(): Promise<void> {
      await db.run(sql`delete from idempotency_keys where run is null and answer is null`);
    },

    /** At most `limit`; how many. */
    dropExpired(limit: number): Promise<number> {
      return db.run(
        sql`delete from idempotency_keys where (owner, key) in (
          select owner, key from idempotency_keys where expires_at <= ${NOW} order by expires_at limit ${limit})`,
        'relaxed',
      );
    },
  };
}

/** False when a server that was believed to be gone has made the run after all. */
export async function isOpen(tx: Transaction, { owner, key }: IdempotencyKey): Promise<boolean> {
  const open = await tx.get(sql`select 1 from idempotency_keys
    where owner = ${owner} and key = ${key} and run is null and answer is null`);
  return open !== undefined;
}

/** Part of the transaction that makes the run: the key stands for it from then on. */
export async function keepRun(tx: Transaction, { owner, key }: IdempotencyKey, run: Run): Promise<void> {
  await tx.run(sql`update idempotency_keys set run = ${toJson(run)} where owner = ${owner} and key = ${key}`);
}

async function use(
  tx: Transaction,
  { owner, key }: IdempotencyKey,
  request: string,
  { keep_ms, claim_ms }: KeyRules,
): Promise<KeyUse> {
  const mine = sql`owner = ${owner} and key = ${key}`;
  await tx.run(sql`delete from idempotency_keys where ${mine} and expires_at <= ${NOW}`);
  const claimed = await tx.run(sql`
    insert into idempotency_keys (owner, key, request, claimed_until, expires_at)
    values (${owner}, ${key}, ${request}, ${nowPlus(claim_ms)}, ${nowPlus(keep_ms)})
    on conflict (owner, key) do update set claimed_until = excluded.claimed_until
      where idempotency_keys.request = ${request} and idempotency_keys.run is null
        and idempotency_keys.answer is null and idempotency_keys.claimed_until <= ${NOW}`);
  if (claimed > 0) return { outcome: 'new' };
  const row = await tx.get<Row>(sql`select request, run, answer from idempotency_keys where ${mine}`);
  if (!row) return { outcome: 'in progress' };
  const { request: first, run, answer } = decode(row, ['run', 'answer']);
  if (first !== request) return { outcome: 'other request' };
  if (answer) return { outcome: 'answered', answer };
  return run ? { outcome: 'run made', run } : { outcome: 'in progress' };
}
