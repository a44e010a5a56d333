/**
 * Besides the connection a host has two pipes. The watch answers each line, `ping` or `locate`, with a `HostStatus` as a
 * line of JSON, from a thread of its own: a blocked event loop does not count as dead. When it closes, the server is gone
 * and the host ends. A host that is about to end itself writes an `ExitNote` to the other.
 */
export const CONNECTION_FD = 3;
export const WATCH_FD = 4;
export const EXIT_NOTE_FD = 5;
/** A file with the end of the server's lease (`core/shared-lease.ts`); empty without one. */
export const LEASE_FD = 6;
