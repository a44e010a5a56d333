import type pg from 'pg';
import { after } from '../../core/timers.ts';
import { postgresLibrary } from './postgres-library.ts';

const GIVE_UP_MS = 2000;

/** Properties of a session that `pg` has but does not declare. */
interface Session {
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly ssl: unknown;
}

/** A raw connection; the types declare only a part of it. */
type RawConnection = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
};

/**
 * Asks the server to cancel the current statement of this connection, over a second connection as the protocol wants.
 * PgBouncer passes the request on. It may arrive after the statement: the connection must not be used for another.
 */
export function cancelStatement(client: pg.Client): void {
  const { processID, secretKey, ssl } = client as unknown as Session;
  if (processID === null || secretKey === null) return;
  const connection = new (postgresLibrary().Connection)({ ssl } as pg.ConnectionConfig) as RawConnection;
  // The server answers by closing. A request that is lost leaves the statement to the client's own timeout.
  connection.on('error', () => connection.stream.destroy());
  const cancel = () => connection.cancel(processID, secretKey);
  connection.once('connect', () => (ssl ? connection.requestSsl() : cancel()));
  connection.once('sslconnect', cancel);
  if (client.host.startsWith('/')) connection.connect(`${client.host}/.s.PGSQL.${client.port}`);
  else connection.connect(client.port, client.host);
  const limit = after(GIVE_UP_MS, () => connection.stream.destroy());
  connection.once('end', () => limit[Symbol.dispose]());
}
