import type pg from 'pg';
import { POSTGRES_PARSERS } from './postgres-db.ts';
import { assertWritable, connectToAny, postgresTargets } from './postgres-hosts.ts';
import { postgresLibrary } from './postgres-library.ts';
import type { PasswordSource } from './postgres-password.ts';
import { requirePostgresUrl } from './postgres-url.ts';

/** Time to get a connection, a free one of the pool or a new one from each host of the URL. */
const CONNECT_TIMEOUT_MS = 3000;
/** Silence after which a connection is probed: before firewalls forget it, and not after the two hours of the system. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Options of the client library for a URL, and the targets that have host, port and TLS. No start-up parameter but the
 * name, unless the URL itself asks for some.
 */
export function clientConfig(uri: string) {
  const url = requirePostgresUrl(uri);
  const { parameters } = url;
  const config: pg.ClientConfig = {
    user: url.user,
    password: url.password,
    database: url.database,
    application_name: parameters.get('application_name') ?? 'agent-server',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    options: parameters.get('options'),
    enableChannelBinding: parameters.get('channel_binding') === 'require',
    ...(parameters.get('sslnegotiation') === 'direct' && { sslnegotiation: 'direct' }),
  };
  return { config, targets: postgresTargets(url) };
}

/** Parses the text of a column of this type. */
export function parserOf(type: number): (text: string) => unknown {
  return POSTGRES_PARSERS[type] ?? postgresLibrary().types.getTypeParser(type, 'text');
}

export interface ClientOptions extends Omit<pg.ClientConfig, 'password'> {
  readonly password?: PasswordSource | undefined;
}

/**
 * Opens a connection outside of the pools, such as one that listens, by the same rules: hosts, TLS and password. The
 * caller ends it.
 */
export async function connectClient(
  uri: string,
  { password, ...options }: ClientOptions = {},
): Promise<pg.Client> {
  const { config, targets } = clientConfig(uri);
  return connectToAny({ targets, password }, async ({ host, port, ssl }) => {
    const own = password && { password: password.get };
    const client = new (postgresLibrary().Client)({ ...config, ...options, ...own, host, port, ssl });
    // Without a listener, a connection that breaks would end the process.
    client.on('error', () => {});
    try {
      await client.connect();
      if (targets.must_write) await assertWritable(client);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  });
}
