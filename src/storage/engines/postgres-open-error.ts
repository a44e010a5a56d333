import { Unavailable } from '../../core/errors.ts';
import { withoutCredentials } from '../../core/redact.ts';

/** Reasons by the code of the system, of TLS, or of PostgreSQL; `…` stands for the message of the error. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'connection refused, nothing listens there'],
  [/^(ENOTFOUND|EAI_)/, 'no address is known for this host (DNS)'],
  [/^(EHOSTUNREACH|ENETUNREACH)/, 'there is no way to this host'],
  [/^ETIMEDOUT/, 'no answer in time'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE)/, 'the connection was closed before it was ready'],
  [/CERT|^UNABLE_TO_|^ERR_(TLS|SSL)/, 'TLS: …'],
  [/^28/, 'user or password refused: …'],
  [/^3D000/, '…; create it, or name another one'],
  [/^53300/, 'too many connections: …'],
  [/^42501/, '…; the user must be allowed to create tables'],
  [/^(08|57P0)/, '…'],
];

/** What `pg` itself says has no code. */
const CLIENT_REASONS: readonly (readonly [RegExp, string])[] = [
  [/timeout exceeded when trying to connect/i, 'no answer in time'],
  [/password must be a (?:non-empty )?string/i, 'it asks for a password, and the address has none'],
  [/does not support SSL/i, 'TLS: …'],
  [/connection terminated/i, 'the connection was closed before it was ready'],
];

/** Says where the database was looked for, why it could not be used, and which setting names it. */
export function postgresOpenError(url: string, error: unknown): unknown {
  const cause = error instanceof Unavailable ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const code = 'code' in cause ? String(cause.code) : '';
  const [known, text] = code === '' ? [CLIENT_REASONS, cause.message] : [REASONS, code];
  const reason = known.find(([pattern]) => pattern.test(text))?.[1].replace('…', () => cause.message);
  if (reason === undefined) return error;
  const detail = withoutCredentials(`${url}: ${reason}`);
  return new Unavailable(`The database cannot be used. ${detail} ("storage.url", DATABASE_URI)`, { cause });
}
