import type pg from 'pg';
import { backoffMs, systemRandom } from '../../core/backoff.ts';
import { systemClock } from '../../core/clock.ts';
import { sleep } from '../../core/timers.ts';
import { connectClient } from './postgres-client.ts';
import type { PasswordSource } from './postgres-password.ts';

export interface LockOptions {
  /** A direct connection: the lock is one of its session. */
  readonly url: string;
  readonly password?: PasswordSource | undefined;
  /** Tells this lock from others of the schema. */
  readonly key: number;
  /** The connection was lost, and another process has the lock now. */
  readonly onTaken: () => void;
  /** How long PostgreSQL may keep our own session after its connection broke, ms. */
  readonly half_open_ms?: number;
  /** How often the connection is asked whether it is still there, ms. */
  readonly ask_every_ms?: number;
}

const BACKOFF = { first_ms: 100, longest_ms: 2000 };
const QUERY_TIMEOUT_MS = 5000;
const HALF_OPEN_MS = 30_000;
const ASK_EVERY_MS = 10_000;

/**
 * PostgreSQL ends the session within 20 seconds of the death of its host, which closes no connection, instead of after
 * two hours. Not all platforms have these settings.
 */
const DETECT_DEAD_HOST = `select set_config(name, value, false) from (values ('tcp_keepalives_idle', '10'),
  ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '2'), ('tcp_user_timeout', '20000')) as setting (name, value)`;

/** An advisory lock, held by the session; each schema has its own. */
const TRY_LOCK = 'select pg_try_advisory_lock($1, hashtext(current_schema())) as is_held';

/**
 * Takes a lock that ends with this process, however it ends. `undefined` if another process has it. After a lost
 * connection it is taken again. Rejects if the database cannot be reached.
 */
export async function holdLock(options: LockOptions): Promise<AsyncDisposable | undefined> {
  const first = await tryLock(options);
  if (!first) return undefined;
  const end = new AbortController();
  const keeping = keep(first, options, end.signal);
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await keeping;
    },
  };
}

async function keep(first: Held, options: LockOptions, end: AbortSignal): Promise<void> {
  for (let held: Held | undefined = first; held; held = await again(options, end)) {
    await lost(held, options, end);
    await held.client.end().catch(() => {});
    if (end.aborted) return;
  }
  if (!end.aborted) options.onTaken();
}

/** Resolves when the connection is gone, or does not answer, for not every end of it is noticed; or at the end. */
async function lost(
  { client, closed }: Held,
  { ask_every_ms = ASK_EVERY_MS }: LockOptions,
  end: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const ask = async () => {
    while (!over.signal.aborted) {
      await sleep(ask_every_ms, over.signal);
      await client.query('select 1');
    }
  };
  await Promise.race([closed, aborted(end), ask().catch(() => {})]);
  over.abort();
}

/** `undefined` if another process has it, or at the end. */
async function again(options: LockOptions, end: AbortSignal): Promise<Held | undefined> {
  const { half_open_ms = HALF_OPEN_MS } = options;
  let taken_at: number | undefined;
  for (let failures = 1; !end.aborted; failures++) {
    const held = await tryLock(options).catch(() => 'unreachable' as const);
    if (held === 'unreachable') taken_at = undefined;
    else if (held) return held;
    else taken_at ??= systemClock.monotonic();
    if (taken_at !== undefined && systemClock.monotonic() - taken_at > half_open_ms) return undefined;
    await sleep(backoffMs(failures, BACKOFF, systemRandom), end);
  }
  return undefined;
}

interface Held {
  readonly client: pg.Client;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
}

/** A session that ends soon after this process, even with its host. */
export async function openLockSession({
  url,
  password,
}: Pick<LockOptions, 'url' | 'password'>): Promise<pg.Client> {
  const client = await connectClient(url, {
    application_name: 'agent-server deployments',
    query_timeout: QUERY_TIMEOUT_MS,
    password,
  });
  await client.query(DETECT_DEAD_HOST).catch(() => {});
  return client;
}

async function tryLock({ key, ...access }: LockOptions): Promise<Held | undefined> {
  const client = await openLockSession(access);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  const { rows } = await client.query<{ is_held: boolean }>(TRY_LOCK, [key]).catch(async (error) => {
    await client.end().catch(() => {});
    throw error;
  });
  if (rows[0]?.is_held) return { client, closed };
  await client.end().catch(() => {});
  return undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
