import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/core/errors.ts';
import { postgresTargets } from '../../../src/db/engines/postgres-hosts.ts';
import { parsePostgresUrl, requirePostgresUrl, withSchema } from '../../../src/db/engines/postgres-url.ts';
import { failure } from '../../support/naming.ts';

function hosts(url: string) {
  return parsePostgresUrl(url)?.hosts;
}

/** What is tried in turn, and whether it is encrypted and checked. */
function targets(url: string): string[] {
  const all = postgresTargets(requirePostgresUrl(url));
  return Array.from({ length: all.count }, () => {
    const target = all.current();
    const error = Object.assign(new Error('The server does not support SSL connections'), { code: '28000' });
    all.advance(target, error);
    const { ssl } = target;
    if (ssl === false) return 'plain';
    if (ssl.rejectUnauthorized === false) return 'encrypted';
    return ssl.checkServerIdentity ? 'certificate checked' : 'certificate and name checked';
  });
}

describe('the URL of a PostgreSQL database', () => {
  test('has user, password, database and parameters, percent-encoded', () => {
    expect(
      parsePostgresUrl('postgresql://me:p%40ss%2F@db:6543/a%20b?sslmode=require&options=-c%20a%3Db'),
    ).toEqual({
      hosts: [{ host: 'db', port: 6543 }],
      user: 'me',
      password: 'p@ss/',
      database: 'a b',
      parameters: new Map([
        ['sslmode', 'require'],
        ['options', '-c a=b'],
      ]),
    });
  });

  test('has any number of hosts, each with a port', () => {
    expect(hosts('postgres://one,two:6432,[::1]:7000,[fe80::1]/db')).toEqual([
      { host: 'one', port: undefined },
      { host: 'two', port: 6432 },
      { host: '::1', port: 7000 },
      { host: 'fe80::1', port: undefined },
    ]);
    expect(hosts('postgres:///db?host=one,two&port=1,2')).toEqual([
      { host: 'one', port: 1 },
      { host: 'two', port: 2 },
    ]);
    expect(hosts('postgres:///db?host=/run/postgresql')).toEqual([
      { host: '/run/postgresql', port: undefined },
    ]);
    expect(hosts('postgres://me@%2Frun%2Fpostgresql/db')).toEqual([
      { host: '/run/postgresql', port: undefined },
    ]);
  });

  test('without a host uses the default of the machine', () => {
    expect(hosts('postgres:///db')).toEqual([{ host: undefined, port: undefined }]);
  });

  test.each([
    'mysql://db/x',
    'postgres:db',
    'postgres://me:%zz@db/x',
    'postgres://db:port/x',
    'postgres://db:0/x',
  ])('is refused if invalid: %s', (url) => {
    expect(parsePostgresUrl(url)).toBeUndefined();
    expect(() => requirePostgresUrl(url)).toThrow(Unavailable);
  });
});

describe('sslmode as libpq understands it', () => {
  test.each([
    ['postgres://db/x', ['encrypted', 'plain']],
    ['postgres://localhost/x', ['plain']],
    ['postgres://127.0.0.1/x', ['plain']],
    ['postgres://db/x?sslmode=disable', ['plain']],
    ['postgres://db/x?sslmode=allow', ['plain', 'encrypted']],
    ['postgres://127.0.0.1/x?sslmode=prefer', ['encrypted', 'plain']],
    ['postgres://db/x?sslmode=require', ['encrypted']],
    ['postgres://db/x?sslmode=require&sslrootcert=package.json', ['certificate checked']],
    ['postgres://db/x?sslmode=verify-ca&sslrootcert=package.json', ['certificate checked']],
    ['postgres://db/x?sslmode=verify-full', ['certificate and name checked']],
    ['postgres://db/x?sslrootcert=system', ['certificate and name checked']],
    ['postgres://db/x?ssl=true', ['certificate and name checked']],
    ['postgres://db/x?ssl=0', ['plain']],
    ['postgres://db/x?sslmode=no-verify', ['encrypted']],
    ['postgres:///x?host=/run/postgresql&sslmode=require', ['plain']],
  ])('%s', (url, expected) => {
    expect(targets(url)).toEqual(expected);
  });

  test('an unknown sslmode and a missing certificate file are refused by name', () => {
    expect(() => targets('postgres://db/x?sslmode=sometimes')).toThrow(
      failure(Error, 'sslmode', 'disable, allow'),
    );
    expect(() => targets('postgres://db/x?sslmode=verify-ca&sslrootcert=/no/such.crt')).toThrow(
      failure(Error, 'sslrootcert', '/no/such.crt', 'ENOENT'),
    );
  });
});

describe('several hosts in a PostgreSQL URL', () => {
  const lost = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

  test('are tried in turn, also from the last to the first', () => {
    const all = postgresTargets(requirePostgresUrl('postgres://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/x'));
    const ports = Array.from({ length: 4 }, () => {
      const target = all.current();
      expect(all.advance(target, lost)).toBe(true);
      return target.port;
    });
    expect(ports).toEqual([1, 2, 3, 1]);
  });

  test('connections that fail together move to the next host once', () => {
    const all = postgresTargets(requirePostgresUrl('postgres://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/x'));
    const target = all.current();
    all.advance(target, lost);
    all.advance(target, lost);
    expect(all.current().port).toBe(2);
  });

  test('are not tried after a wrong password', () => {
    const all = postgresTargets(requirePostgresUrl('postgres://127.0.0.1:1,127.0.0.1:2/x'));
    const refused = Object.assign(new Error('password authentication failed'), { code: '28P01' });
    expect(all.advance(all.current(), refused)).toBe(false);
  });

  test('are checked for being writable, unless the URL says otherwise', () => {
    const must_write = (url: string) => postgresTargets(requirePostgresUrl(url)).must_write;
    expect(must_write('postgres://one,two/x')).toBe(true);
    expect(must_write('postgres://one,two/x?target_session_attrs=any')).toBe(false);
    expect(must_write('postgres://one/x')).toBe(false);
    expect(must_write('postgres://one/x?target_session_attrs=read-write')).toBe(true);
    expect(() => must_write('postgres://one/x?target_session_attrs=standby')).toThrow('the server writes');
  });
});

test('another schema of the same database keeps everything else of the URL', () => {
  const url =
    'postgres://me:p%3Fw%23@[::1]:5433,two/x?options=-c%20search_path%3Dours%20-c%20jit%3Doff&sslmode=require';
  const [before, after] = [requirePostgresUrl(url), requirePostgresUrl(withSchema(url, 'deployment_1'))];
  const options = '-c search_path=ours -c jit=off -c search_path=deployment_1';
  expect(after).toEqual({
    ...before,
    parameters: new Map([
      ['options', options],
      ['sslmode', 'require'],
    ]),
  });
  expect(withSchema('postgres://one/x', 'a')).toBe('postgres://one/x?options=-c+search_path%3Da');
});
