import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Forbidden } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { isLocalName } from '../../core/loopback.ts';

/** Whether pages of an origin, as browsers write it in `Origin`, may call. */
export type OriginCheck = (origin: string) => boolean;

interface NamedOrigins {
  /** `*` stands for all. */
  readonly allow_origins?: readonly string[] | undefined;
  /** Of the whole origin. */
  readonly allow_origin_regex?: string | undefined;
}

/** LangSmith Studio, which people open on servers of their own machine. */
const STUDIO = /^https:\/\/([a-z]+\.)?smith\.langchain\.com$/;

/**
 * The rule of a configuration; undefined where every page may call. Where no origin is named and nobody needs a key, any
 * page that somebody opens could otherwise use the agents of their machine: those of this machine may, of
 * `served_hosts`, and Studio.
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

/** Such as no configuration names; told apart by their schemes, as expressions may be. */
const UNKNOWN_ORIGINS = ['https', 'http'].map((scheme) => `${scheme}://a-page-of-nobody.invalid`);

/** Whether pages of any origin may call, by `*` or by an expression such as `.*`. */
function allowsAnyOrigin(isAllowedOrigin: OriginCheck | undefined): boolean {
  return !isAllowedOrigin || UNKNOWN_ORIGINS.some(isAllowedOrigin);
}

/** The keys of `http.cors` (CONTRACT §14). `*` in a list stands for all. */
export interface CorsOptions {
  readonly allow_origins?: readonly string[] | undefined;
  readonly allow_origin_regex?: string | undefined;
  readonly allow_methods: readonly string[];
  readonly allow_headers: readonly string[];
  readonly allow_credentials: boolean;
  readonly expose_headers: readonly string[];
  /** Seconds. */
  readonly max_age: number;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Tells browsers which pages may read answers: those that `isAllowedOrigin`, all without that, and without credentials unless
 * the configuration says otherwise (CONTRACT §1).
 */
export async function useCors(
  server: FastifyInstance,
  options: CorsOptions,
  isAllowedOrigin: OriginCheck | undefined,
  logger: Logger,
): Promise<void> {
  server.addHook('onRequest', async ({ headers }, reply) => {
    const isAllowed = !isAllowedOrigin || (headers.origin !== undefined && isAllowedOrigin(headers.origin));
    // A page of a public site that calls a server of the local network; Studio does.
    if (isAllowed && headers['access-control-request-private-network'] === 'true') {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
  // Where no origin is named, those that may call are told what all are told elsewhere.
  const isNamed = options.allow_origins !== undefined || options.allow_origin_regex !== undefined;
  const allowed = isNamed ? true : '*';
  // With the user's cookies a page that anybody made would act as the user.
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
    // Without a list the plugin echoes what the browser asks for.
    ...(options.allow_headers.includes('*') ? {} : { allowedHeaders: [...options.allow_headers] }),
    ...(exposed.length > 0 ? { exposedHeaders: exposed } : {}),
    credentials: hasCredentials,
    maxAge: options.max_age,
    optionsSuccessStatus: 200,
    // An OPTIONS request that is no preflight gets the same answer rather than an error.
    strictPreflight: false,
  });
}

/** Of pages that were refused, so many are told to the log. */
const MAX_LOGGED_ORIGINS = 20;

/**
 * Refuses requests of pages that may not call. CORS keeps such a page from reading an answer, but not from sending what
 * needs no preflight, and WebSockets know no CORS. Pages of the server itself may, and clients that are no browsers
 * send no origin.
 */
export function useOriginCheck(server: FastifyInstance, isAllowedOrigin: OriginCheck, logger: Logger): void {
  const logged = new Set<string>();
  server.addHook('onRequest', async (request) => {
    const { origin } = request.headers;
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
