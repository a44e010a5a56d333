import { Unavailable } from '../../core/errors.ts';

/** The parts of a PostgreSQL URL, as libpq reads it. */
export interface PostgresUrl {
  /** In the order in which they are tried; at least one. An absent host or port is the client library's default. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

export interface PostgresHost {
  /** A name, an IP address without brackets, or the folder of a Unix socket. */
  readonly host: string | undefined;
  readonly port: number | undefined;
}

const PARTS = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?/;

/**
 * Parses `postgres://user:password@host:port,host:port/database?parameters`. Not by `URL`, which knows one host.
 * Returns `undefined` if it is not such a URL; a message about it could contain the password.
 */
export function parsePostgresUrl(url: string): PostgresUrl | undefined {
  const [, authority, database, query] = PARTS.exec(url) ?? [];
  if (authority === undefined) return undefined;
  const at = authority.lastIndexOf('@');
  const [user, password] = at < 0 ? [] : splitOnce(authority.slice(0, at), ':');
  const parameters = new Map(new URLSearchParams(query));
  try {
    return {
      hosts: hostsOf(authority.slice(at + 1), parameters),
      user: decoded(user) ?? parameters.get('user'),
      password: decoded(password) ?? parameters.get('password'),
      database: decoded(database) ?? parameters.get('dbname'),
      parameters,
    };
  } catch {
    return undefined;
  }
}

/** Throws `Unavailable` if it is not the URL of a PostgreSQL database. */
export function requirePostgresUrl(url: string): PostgresUrl {
  const parsed = parsePostgresUrl(url);
  if (parsed) return parsed;
  throw new Unavailable('The URL of the database is not valid ("storage.url", DATABASE_URI).');
}

/** The same database with another schema. Other settings of the parameter `options` remain; a pooler rejects it. */
export function withSchema(url: string, schema: string): string {
  const [withoutFragment] = splitOnce(url, '#');
  const [base, query] = splitOnce(withoutFragment, '?');
  const parameters = new URLSearchParams(query);
  const options = [parameters.get('options'), `-c search_path=${schema}`].filter(Boolean);
  parameters.set('options', options.join(' '));
  return `${base}?${parameters}`;
}

/** The parameters `host` and `port` override the authority; a single port counts for every host. */
function hostsOf(authority: string, parameters: ReadonlyMap<string, string>): PostgresHost[] {
  const names = parameters.get('host')?.split(',');
  const ports = parameters.get('port')?.split(',');
  const listed = names?.map((host) => ({ host, port: undefined })) ?? authority.split(',').map(hostOf);
  return listed.map(({ host, port }, index) => ({
    host: host || undefined,
    port: portOf(ports?.[ports.length === 1 ? 0 : index]) ?? port,
  }));
}

function hostOf(text: string): PostgresHost {
  const [, ipv6, name, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(text) ?? [];
  if (ipv6 === undefined && name === undefined) throw new Error('not a host');
  return { host: ipv6 ?? decoded(name), port: portOf(port) };
}

function portOf(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('not a port');
  return port;
}

/** `undefined` for an empty part. Throws for a broken percent-encoding. */
function decoded(text: string | undefined): string | undefined {
  return text ? decodeURIComponent(text) : undefined;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
