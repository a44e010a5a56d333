import type pg from 'pg';
import { codeOf, Unavailable } from '../../core/errors.ts';
import { isHostFailure, isPasswordRefused } from './postgres-errors.ts';
import type { PasswordSource } from './postgres-password.ts';
import { type Encryption, encryptionsFor } from './postgres-tls.ts';
import type { PostgresHost, PostgresUrl } from './postgres-url.ts';

/** Target of the next connection. */
export interface PostgresTarget extends PostgresHost {
  readonly ssl: Encryption;
}

export interface PostgresTargets {
  readonly count: number;
  current(): PostgresTarget;
  /**
   * Moves on after `target` failed with this error. Returns false if no other target can do better. Every connection
   * that was under way fails alike: only the first of them moves on.
   */
  advance(target: PostgresTarget, error: unknown): boolean;
  /** Whether a new connection must be asked if it can write: with several hosts, one may be a replica. */
  readonly must_write: boolean;
}

/** The modes of libpq in which a server that writes is asked for; `any` skips the check. */
const WRITABLE = ['read-write', 'primary'];

/**
 * The hosts of the URL in turn, each with the encryptions of its `sslmode`. Stays with the one that worked. Throws
 * `Unavailable` for parameters that cannot be honoured.
 */
export function postgresTargets({ hosts, parameters }: PostgresUrl): PostgresTargets {
  const wanted = parameters.get('target_session_attrs') ?? (hosts.length > 1 ? 'read-write' : 'any');
  if (!['any', ...WRITABLE].includes(wanted)) {
    throw new Unavailable('target_session_attrs must be read-write, primary or any: the server writes.');
  }
  const targets = hosts.flatMap((host) =>
    encryptionsFor(parameters, host).map((ssl): PostgresTarget => ({ ...host, ssl })),
  );
  let at = 0;
  return {
    count: targets.length,
    must_write: WRITABLE.includes(wanted),
    current: () => targets[at] as PostgresTarget,
    advance(target, error) {
      if (targets[at] !== target) return true;
      const next = nextTarget(targets, at, error);
      if (next === undefined) return false;
      at = next;
      return true;
    },
  };
}

/** The same host with the other encryption if that was the reason, else the next host. */
function nextTarget(targets: readonly PostgresTarget[], at: number, error: unknown): number | undefined {
  const isSameHost = (index: number) =>
    targets[index]?.host === targets[at]?.host && targets[index]?.port === targets[at]?.port;
  if (isEncryptionRefused(error)) {
    const other = targets.findIndex((_, index) => index !== at && isSameHost(index));
    if (other >= 0) return other;
  }
  if (!isHostFailure(error)) return undefined;
  const turn = targets.map((_, step) => (at + step) % targets.length);
  return turn.find((index) => !isSameHost(index));
}

/** The server has no TLS, or refuses this user with or without it. */
function isEncryptionRefused(error: unknown): boolean {
  return codeOf(error) === '28000' || (error instanceof Error && /SSL|TLS/i.test(error.message));
}

/** Targets of connections, and how to open them. */
export interface PostgresServers {
  readonly targets: PostgresTargets;
  /** Instead of the password of the URL. */
  readonly password?: PasswordSource | undefined;
}

/** Tries each target of the URL once. Host names are resolved again for every connection. */
export async function connectToAny<T>(
  { targets, password }: PostgresServers,
  connect: (target: PostgresTarget) => Promise<T>,
): Promise<T> {
  let has_renewed = password === undefined;
  for (let tried = 1; ; tried++) {
    const target = targets.current();
    try {
      return await connect(target);
    } catch (error) {
      if (isPasswordRefused(error) && !has_renewed) {
        // The cached token may have expired.
        password?.forget();
        has_renewed = true;
        tried--;
        continue;
      }
      const moved = targets.advance(target, error);
      if (!moved || tried >= targets.count) throw error;
    }
  }
}

/** Throws as a write to a replica does, so that the next host is tried. */
export async function assertWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'on') return;
  throw Object.assign(new Error('cannot write: this server is a replica'), { code: '25006' });
}
