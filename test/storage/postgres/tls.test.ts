import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { number } from '../../../src/db/columns.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import {
  POSTGRES_BINARIES,
  type PostgresServer,
  serverUser,
  startPostgres,
} from '../../support/postgres-server.ts';

/** Who may connect: `agents` by TLS only, `certain` by a certificate with that name, `postgres` as it likes. */
const HBA = `
hostssl all agents 127.0.0.1/32 trust
hostssl all certain 127.0.0.1/32 cert
host all postgres 127.0.0.1/32 trust
`;

describe.runIf(POSTGRES_BINARIES)('TLS to PostgreSQL', () => {
  let folder: string;
  let server: PostgresServer;
  let plain: PostgresServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agent-server-tls-'));
    chmodSync(folder, 0o755);
    makeCertificates(folder);
    writeFileSync(join(folder, 'hba'), HBA);
    server = await startPostgres({
      hba_file: join(folder, 'hba'),
      ssl: 'on',
      ssl_cert_file: join(folder, 'server.crt'),
      ssl_key_file: join(folder, 'server.key'),
      ssl_ca_file: join(folder, 'ca.crt'),
      fsync: 'off',
    });
    plain = await startPostgres({ fsync: 'off' });
    await using db = openPostgres(server.url);
    await db.run(raw('create role agents login; create role certain login'));
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await plain?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Whether the connection is encrypted. */
  async function isEncrypted(
    parameters: string,
    { user = 'postgres', host = '127.0.0.1', of = server } = {},
  ) {
    const url = of.url.replace('postgres@127.0.0.1', `${user}@${host}`);
    await using db = openPostgres(`${url}?${parameters.replaceAll('FOLDER', folder)}`);
    const row = await db.get(
      sql`select ssl as ${number('ssl')} from pg_stat_ssl where pid = pg_backend_pid()`,
    );
    return row?.ssl === 1;
  }

  test.each([
    ['sslmode=disable', false],
    ['sslmode=allow', false],
    ['sslmode=prefer', true],
    ['sslmode=require', true],
    ['sslmode=verify-ca&sslrootcert=FOLDER/ca.crt', true],
  ])('%s', async (parameters, expected) => {
    expect(await isEncrypted(parameters)).toBe(expected);
  });

  test('sslmode allow encrypts if the server requires it, and prefer does not if the server cannot', async () => {
    expect(await isEncrypted('sslmode=allow', { user: 'agents' })).toBe(true);
    expect(await isEncrypted('sslmode=prefer', { of: plain })).toBe(false);
    await expect(isEncrypted('sslmode=require', { of: plain })).rejects.toThrow('does not support SSL');
    await expect(isEncrypted('sslmode=disable', { user: 'agents' })).rejects.toThrow();
  });

  test('the certificate is verified against the given authority, and the name if requested', async () => {
    const full = 'sslmode=verify-full&sslrootcert=FOLDER/ca.crt';
    expect(await isEncrypted(full, { host: 'localhost' })).toBe(true);
    await expect(isEncrypted(full)).rejects.toThrow(/altnames|does not match/);
    await expect(isEncrypted('sslmode=verify-ca&sslrootcert=FOLDER/other.crt')).rejects.toThrow(
      /certificate/,
    );
    await expect(isEncrypted('sslmode=require&sslrootcert=FOLDER/other.crt')).rejects.toThrow(/certificate/);
    await expect(isEncrypted('sslmode=verify-full', { host: 'localhost' })).rejects.toThrow(/certificate/);
  });

  test('a client can show a certificate instead of a password', async () => {
    const shown = 'sslmode=require&sslcert=FOLDER/certain.crt&sslkey=FOLDER/certain.key';
    expect(await isEncrypted(shown, { user: 'certain' })).toBe(true);
    await expect(isEncrypted('sslmode=require', { user: 'certain' })).rejects.toThrow();
  });
});

/** An authority, the certificates of a server at `localhost` and of the user `certain`, and another authority. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other']) {
    const self = [
      '-x509',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
    ];
    openssl('req', ...key, ...self);
  }
  for (const [name, subject] of Object.entries({ server: 'localhost', certain: 'certain' })) {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=DNS:${subject}\n`);
    openssl('req', ...key, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const signed = ['-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
    openssl('x509', '-req', ...signed, '-extfile', `${name}.ext`, '-out', `${name}.crt`, '-days', '2');
  }
  const user = serverUser();
  if (user) chownSync(join(folder, 'server.key'), user.uid, user.gid);
  chmodSync(join(folder, 'server.key'), 0o600);
}
