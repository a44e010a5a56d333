import { isIPv6 } from 'node:net';
import { isLocalName } from '../core/loopback.ts';
import type { Config } from './schema.ts';

/** The part of a configuration that determines the server's address. */
export interface AddressConfig {
  readonly server: Pick<Config['server'], 'host' | 'port' | 'role'>;
  readonly http: Pick<Config['http'], 'mount_prefix'>;
}

/** Base URL for programs on this machine, with the mount prefix. Port 0 must have been resolved. */
export function localUrl({ server, http }: Pick<AddressConfig, 'http'> & { server: Listener }): string {
  const host = ANY_ADDRESS[server.host] ?? server.host;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${server.port}${http.mount_prefix ?? ''}`;
}

interface Listener {
  readonly host: string;
  readonly port: number;
}

/** A server that listens at all addresses is reached through loopback. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '127.0.0.1' };

/**
 * Variables that tell graphs where the server is, as the official server sets them: `PORT`, the port it listens on, and
 * `LANGGRAPH_API_URL`. A configured URL of another machine, such as a public one, is kept; one of this machine usually
 * comes from a template and names a port of the official server. A worker does not serve the API, so it gets no URL.
 * Empty while the port is 0.
 */
export function addressVariables(config: AddressConfig, given: Given): Record<string, string> {
  const { port, role } = config.server;
  if (port === 0) return {};
  const url = given['LANGGRAPH_API_URL'];
  const hasOtherUrl = role === 'worker' || (url && !isOnThisMachine(url));
  return { PORT: String(port), ...(!hasOtherUrl && { LANGGRAPH_API_URL: localUrl(config) }) };
}

type Given = Readonly<Record<string, string | undefined>>;

function isOnThisMachine(text: string): boolean {
  const { hostname = '' } = URL.canParse(text) ? new URL(text) : {};
  return hostname in ANY_ADDRESS || isLocalName(hostname);
}
