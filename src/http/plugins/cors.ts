import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../core/logger.ts';
import { letsAnyPage, type OriginRule } from '../origin-rule.ts';

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
 * Tells browsers which pages may read answers: those that `mayCall`, all without that, and without credentials unless
 * the configuration says otherwise (CONTRACT §1).
 */
export async function useCors(
  server: FastifyInstance,
  options: CorsOptions,
  mayCall: OriginRule | undefined,
  logger: Logger,
): Promise<void> {
  server.addHook('onRequest', async ({ headers }, reply) => {
    const isAllowed = !mayCall || (headers.origin !== undefined && mayCall(headers.origin));
    // A page of a public site that calls a server of the local network; Studio does.
    if (isAllowed && headers['access-control-request-private-network'] === 'true') {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
  // Where no origin is named, those that may call are told what all are told elsewhere.
  const isNamed = options.allow_origins !== undefined || options.allow_origin_regex !== undefined;
  const granted = isNamed ? true : '*';
  // With the user's cookies a page that anybody made would act as the user.
  const hasCredentials = options.allow_credentials && isNamed && !letsAnyPage(mayCall);
  if (options.allow_credentials && !hasCredentials) {
    logger.warn(
      'http.cors.allow_credentials has no effect: it requires named origins in http.cors.allow_origins',
    );
  }
  const exposed = [...options.expose_headers];
  await server.register(cors, {
    origin: mayCall
      ? async (origin: string | undefined) => (origin === undefined || mayCall(origin)) && granted
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
