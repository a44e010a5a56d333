import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { fastify, type RouteHandlerMethod } from 'fastify';
import type { JsonObject } from '../core/json.ts';
import { followColorScheme, LOGO, operationFilter, STYLE } from './docs-page.ts';
import { ZOD_COMPILERS } from './plugins/validation.ts';

export interface ViewerOptions {
  readonly mount_prefix: string;
  readonly document: () => JsonObject;
}

/** Handlers of the documentation viewer, by path. Those of static files serve the path of their request. */
export async function viewerHandlers({
  mount_prefix,
  document,
}: ViewerOptions): Promise<ReadonlyMap<string, RouteHandlerMethod>> {
  const handlers = new Map<string, RouteHandlerMethod>();
  // This server never listens: only its route handlers are used.
  const server = fastify({ schemaController: { compilersFactory: ZOD_COMPILERS } });
  server.addHook('onRoute', ({ url, handler }) => void handlers.set(url, handler));
  server.register(swagger, { openapi: {}, transformObject: document });
  server.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: mount_prefix,
    theme: {
      title: 'Agent Server',
      js: [{ filename: 'color-scheme.js', content: `(${followColorScheme})()` }],
      css: [{ filename: 'page.css', content: STYLE }],
      favicon: [{ filename: 'logo.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: LOGO }],
    },
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      filter: true,
      plugins: [operationFilter],
    },
  });
  await server.ready();
  return handlers;
}
