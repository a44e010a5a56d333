import type { Db } from '../db/db.ts';
import type { Cipher } from '../db/encryption/cipher.ts';
import { openPostgres, type PostgresPool } from '../db/engines/postgres.ts';
import { passwordFrom } from '../db/engines/postgres-password.ts';
import type { DatabaseStats } from '../schemas/system.ts';

/** How all pools of a process connect. */
export interface PostgresAccess {
  readonly url: string;
  /** Command whose output is the password. */
  readonly password_command?: string | undefined;
  /** Without one, nothing is encrypted. */
  readonly cipher?: Cipher | undefined;
}

/** Opens pools that share the password and the count of retries. */
export function postgresPools({ url, password_command, cipher }: PostgresAccess) {
  const password = password_command === undefined ? undefined : passwordFrom(password_command);
  const retries = new Map<string, number>();
  const onRetry = (code: string) => retries.set(code, (retries.get(code) ?? 0) + 1);
  return {
    open: (options: { max_connections: number; no_timeouts?: boolean }): PostgresPool =>
      openPostgres(url, { ...options, ...(cipher && { cipher }), password, onRetry }),
    retries: () => Object.fromEntries(retries),
  };
}

/** Statistics of these pools. */
export function statsOf(pools: Readonly<Record<string, PostgresPool>>): DatabaseStats['pools'] {
  return Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, pool.stats()]));
}

/** Closes these databases. */
export async function closePools(pools: Readonly<Record<string, Db>>): Promise<void> {
  await Promise.all([...new Set(Object.values(pools))].map((pool) => pool[Symbol.asyncDispose]()));
}
