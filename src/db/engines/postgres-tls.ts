import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { codeOf, Unavailable } from '../../core/errors.ts';
import type { PostgresHost } from './postgres-url.ts';

/** Options of TLS, or `false` for a plain connection. */
export type Encryption = ConnectionOptions | false;

/** `no-verify` is the client library's name for `require` without a check, and kept for URLs that have it. */
const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type SslMode = (typeof MODES)[number];

/**
 * What to try in turn for a host, by `sslmode` as libpq understands it. Without one it is `prefer`, or `disable` where
 * nothing leaves the machine. Throws `Unavailable` for an unknown mode and for a file that cannot be read.
 */
export function encryptionsFor(
  parameters: ReadonlyMap<string, string>,
  { host }: PostgresHost,
): Encryption[] {
  const mode = modeOf(parameters, isLocal(host) ? 'disable' : 'prefer');
  // libpq never encrypts a Unix socket.
  if (mode === 'disable' || host?.startsWith('/')) return [false];
  const files = filesOf(parameters);
  const unverified: Encryption = { ...files, rejectUnauthorized: false };
  switch (mode) {
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'no-verify':
      return [unverified];
    case 'require':
      // With a root certificate libpq checks it here too.
      return [files.ca === undefined ? unverified : { ...files, checkServerIdentity: () => undefined }];
    case 'verify-ca':
      return [{ ...files, checkServerIdentity: () => undefined }];
    case 'verify-full':
      return [files];
  }
}

function modeOf(parameters: ReadonlyMap<string, string>, otherwise: SslMode): SslMode {
  const given = parameters.get('sslmode') ?? LEGACY[parameters.get('ssl') ?? ''];
  if (given === undefined) return parameters.get('sslrootcert') === 'system' ? 'verify-full' : otherwise;
  const mode = MODES.find((known) => known === given);
  if (mode) return mode;
  throw new Unavailable(`sslmode must be one of ${MODES.slice(0, -1).join(', ')} ("storage.url").`);
}

/** `ssl=` in the query is older than `sslmode=`. */
const LEGACY: Readonly<Record<string, SslMode>> = {
  true: 'verify-full',
  1: 'verify-full',
  false: 'disable',
  0: 'disable',
  'no-verify': 'no-verify',
};

function isLocal(host: string | undefined): boolean {
  return host === undefined || host === 'localhost' || host === '::1' || /^(\/|127\.)/.test(host);
}

function filesOf(parameters: ReadonlyMap<string, string>): ConnectionOptions {
  const read = (name: string) => {
    const path = parameters.get(name);
    return path === undefined ? undefined : readCertificate(name, path);
  };
  // Without `ca`, the certificate authorities that Node knows are trusted.
  const ca = parameters.get('sslrootcert') === 'system' ? undefined : read('sslrootcert');
  const [cert, key] = [read('sslcert'), read('sslkey')];
  const passphrase = parameters.get('sslpassword');
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(passphrase !== undefined && { passphrase }),
  };
}

function readCertificate(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = codeOf(cause) || 'unreadable';
    throw new Unavailable(`The file of ${name}, ${path}, cannot be read: ${code} ("storage.url").`, {
      cause,
    });
  }
}
