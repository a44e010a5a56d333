import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Forbidden } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isLocalName } from '../../core/loopback.ts';

/** Whether pages of an origin, in the form of the `Origin` header, may send requests. */
export type OriginCheck = (origin: string) => boolean;

interface NamedOrigins {
  /** `*` allows every origin. */
  readonly allow_origins?: readonly string[] | undefined;
  /** Matches the whole origin. */
  readonly allow_origin_regex?: string | undefined;
}

/** LangSmith Studio, which users open against servers on their own machine. */
const STUDIO = /^https:\/\/([a-z]+\.)?smith\.langchain\.com$/;

/**
 * Origin check for a configuration; `undefined` allows every page. Without named origins and without API keys, any page
 * open in a browser could drive local agents: only pages of this machine, of `served_hosts` and Studio are allowed.
 */
export function corsOriginCheck(
  { allow_origins, allow_origin_regex }: NamedOrigins,
  served_hosts: readonly string[] | undefined,
): OriginCheck | undefined {
  const names = new Set(allow_origins);
  if (names.has('*')) return undefined;
  const pattern = allow_origin_regex === undefined ? undefined : new RegExp(`^(?:${allow_origin_regex})$`);
  if (allow_origins || pattern) return (origin) => names.has(origin) || pattern?.test(origin) === true;
  if (!served_hosts) return undefined;
  const hosts = new Set(served_hosts.map((host) => host.toLowerCase()));
  return (origin) => {
    const host = URL.parse(origin)?.hostname ?? '';
    return isLocalName(host) || hosts.has(host) || STUDIO.test(origin);
  };
}

/** Probes that no configuration names, one per scheme because an expression may fix the scheme. */
const UNKNOWN_ORIGINS = ['https', 'http'].map((scheme) => `${scheme}://a-page-of-nobody.invalid`);

/** Whether every origin is allowed, by `*` or by an expression such as `.*`. */
function allowsAnyOrigin(isAllowedOrigin: OriginCheck | undefined): boolean {
  return !isAllowedOrigin || UNKNOWN_ORIGINS.some(isAllowedOrigin);
}

/** Keys of `http.cors` (contract §14). `*` in a list allows everything. */
export interface CorsOptions {
  readonly allow_origins?: readonly string[] | undefined;
  readonly allow_origin_regex?: string | undefined;
  readonly allow_methods: readonly string[];
  readonly allow_headers: readonly string[];
  readonly allow_credentials: boolean;
  readonly expose_headers: readonly string[];
  /** `Access-Control-Max-Age`, seconds. */
  readonly max_age: number;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * CORS headers: allows the origins of `isAllowedOrigin`, or all without it, and no credentials by default (contract
 * §1).
 */
export async function useCors(
  server: FastifyInstance,
  options: CorsOptions,
  isAllowedOrigin: OriginCheck | undefined,
  logger: Logger,
): Promise<void> {
  server.addHook('onRequest', async ({ headers }, reply) => {
    const isAllowed = !isAllowedOrigin || (headers.origin !== undefined && isAllowedOrigin(headers.origin));
    // Private Network Access: a public page, such as Studio, calls a server on the local network.
    if (isAllowed && headers['access-control-request-private-network'] === 'true') {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
  // Without named origins, an allowed page gets `*`, the same as on an open server.
  const isNamed = options.allow_origins !== undefined || options.allow_origin_regex !== undefined;
  const allowed = isNamed ? true : '*';
  // Credentials for every origin would let any page act as the user.
  const hasCredentials = options.allow_credentials && isNamed && !allowsAnyOrigin(isAllowedOrigin);
  if (options.allow_credentials && !hasCredentials) {
    logger.warn(
      'http.cors.allow_credentials has no effect: it requires named origins in http.cors.allow_origins',
    );
  }
  const exposed = [...options.expose_headers];
  await server.register(cors, {
    origin: isAllowedOrigin
      ? async (origin: string | undefined) => (origin === undefined || isAllowedOrigin(origin)) && allowed
      : '*',
    methods: options.allow_methods.includes('*') ? METHODS : [...options.allow_methods],
    // Without a list, the plugin echoes the requested headers.
    ...(options.allow_headers.includes('*') ? {} : { allowedHeaders: [...options.allow_headers] }),
    ...(exposed.length > 0 ? { exposedHeaders: exposed } : {}),
    credentials: hasCredentials,
    maxAge: options.max_age,
    optionsSuccessStatus: 200,
    // A plain OPTIONS request gets the preflight's answer rather than an error.
    strictPreflight: false,
  });
}

/** Number of refused origins to log. */
const MAX_LOGGED_ORIGINS = 20;

/**
 * Refuses requests from origins that are not allowed (CSRF, cross-site WebSocket hijacking): CORS hides the response
 * but does not stop a request without preflight, and does not cover WebSockets. Same-origin requests and clients that
 * send no `Origin` pass.
 */
export function useOriginCheck(server: FastifyInstance, isAllowedOrigin: OriginCheck, logger: Logger): void {
  const logged = new Set<string>();
  server.addHook('onRequest', async (request) => {
    const { origin } = request.headers;
    if (request.routeOptions.config.any_origin) return;
    if (origin === undefined || isAllowedOrigin(origin) || isSameOrigin(origin, request)) return;
    if (logged.size < MAX_LOGGED_ORIGINS && !logged.has(origin)) {
      logged.add(origin);
      logger.warn('request rejected: its origin is not in http.cors.allow_origins', { origin });
    }
    throw new Forbidden(`Origin ${origin} is not allowed. Add it to http.cors.allow_origins.`);
  });
}

function isSameOrigin(origin: string, { host }: FastifyRequest): boolean {
  return URL.parse(origin)?.host === host.toLowerCase();
}
