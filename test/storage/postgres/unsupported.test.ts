import { expect, test } from 'vitest';
import { supportedVersion } from '../../../src/db/engines/postgres-server.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { fakePostgres } from '../../support/fake-postgres.ts';
import { failure } from '../../support/naming.ts';

const COCKROACH = 'CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/03 16:30:26, go1.22.8)';

test.each([
  ['PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu', '15.8'],
  ['PostgreSQL 18beta1 on aarch64', '18beta1'],
  ['PostgreSQL 15.2-YB-2025.2.3.0-b1 on x86_64', '15.2'],
])('database version %s is supported', (answer, version) => {
  expect(supportedVersion(answer)).toBe(version);
});

test.each([
  [COCKROACH, 'CockroachDB is not supported'],
  ['PostgreSQL 12.20 on x86_64', 'PostgreSQL 12.20 is too old: use 13 or newer'],
  ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.77', 'PostgreSQL 8.0.2 is too old'],
  ['MaterializedDB 1', 'not PostgreSQL but "MaterializedDB 1"'],
])('database version %s is not supported', (answer, complaint) => {
  expect(() => supportedVersion(answer)).toThrow(complaint);
});

test('a start on CockroachDB fails with the reason before any write', async () => {
  await using server = await fakePostgres((statement) => {
    if (statement === 'select version()') return { version: COCKROACH };
    return statement.includes('default_transaction_isolation') ? { level: 'read committed' } : undefined;
  });
  await expect(openStorage({ url: server.url, synchronous: 'full' })).rejects.toThrow(
    failure(Error, 'CockroachDB', 'LISTEN'),
  );
  expect(server.statements).toEqual([expect.stringMatching(/^select/), 'select version()', 'rollback']);
});
