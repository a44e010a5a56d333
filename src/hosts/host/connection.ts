import type { HostMethods, ServerMethods } from '../protocol/messages.ts';
import type { Peer } from '../protocol/peer.ts';

/** The connection of a host to its server. */
export type ServerConnection = Peer<HostMethods, ServerMethods>;

/** How the memory of a session reaches the server. */
export type Messages = Pick<ServerConnection, 'request' | 'notify'>;
