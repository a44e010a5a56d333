/** What one client may take of the server: keys of the configuration's `server` block. */
export interface ClientLimits {
  /** Connections at a time; undefined: as many as there are file descriptors. */
  readonly max_connections?: number | undefined;
  /** Bytes of a request's line and headers. */
  readonly max_header_bytes: number;
  /** How long a client may take to send a request, its body included. */
  readonly request_timeout_seconds: number;
  /** How long until its headers are there. */
  readonly headers_timeout_seconds: number;
}

/** Node looks for slow clients this often, ms. Its own is 30 s. */
const LONGEST_CHECK_MS = 5_000;

/** The limits of time in the words of Node: whole ms, all that it takes. */
export function timeoutsOf(limits: ClientLimits) {
  const requestTimeout = Math.round(limits.request_timeout_seconds * 1000);
  const headersTimeout = Math.min(Math.round(limits.headers_timeout_seconds * 1000), requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.min(LONGEST_CHECK_MS, headersTimeout),
  };
}
