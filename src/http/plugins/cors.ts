import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** The keys of `http.cors` (CONTRACT §14). `*` in a list stands for all. */
export interface CorsOptions {
  readonly allow_origins: readonly string[];
  readonly allow_origin_regex?: string | undefined;
  readonly allow_methods: readonly string[];
  readonly allow_headers: readonly string[];
  readonly allow_credentials: boolean;
  readonly expose_headers: readonly string[];
  /** Seconds. */
  readonly max_age: number;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Browsers from anywhere may call without credentials, unless the configuration says otherwise (CONTRACT §1). */
export async function useCors(server: FastifyInstance, options: CorsOptions): Promise<void> {
  server.addHook('onRequest', async (request, reply) => {
    // A page of a public site that calls a server of the local network; Studio does.
    if (request.headers['access-control-request-private-network'] === 'true') {
      reply.header('access-control-allow-private-network', 'true');
    }
  });
  const exposed = [...options.expose_headers];
  await server.register(cors, {
    origin: origins(options),
    methods: options.allow_methods.includes('*') ? METHODS : [...options.allow_methods],
    // Without a list the plugin echoes what the browser asks for.
    ...(options.allow_headers.includes('*') ? {} : { allowedHeaders: [...options.allow_headers] }),
    ...(exposed.length > 0 ? { exposedHeaders: exposed } : {}),
    credentials: options.allow_credentials,
    maxAge: options.max_age,
    optionsSuccessStatus: 200,
    // An OPTIONS request that is no preflight gets the same answer rather than an error.
    strictPreflight: false,
  });
}

function origins({ allow_origins, allow_origin_regex }: CorsOptions): '*' | (string | RegExp)[] {
  if (allow_origins.includes('*')) return '*';
  return [...allow_origins, ...(allow_origin_regex ? [new RegExp(`^(?:${allow_origin_regex})$`)] : [])];
}
