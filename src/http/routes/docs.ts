import swaggerUi from '@fastify/swagger-ui';
import type { FastifyPluginCallback } from 'fastify';

/** Everything comes from this server: the page works without internet, and over plain HTTP too. */
const CONTENT_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'self'",
  "object-src 'none'",
].join('; ');

/** The document and its page need no key: the page is where a key is entered. */
export const docsRoutes: FastifyPluginCallback<{ mount_prefix: string }> = (
  server,
  { mount_prefix },
  done,
) => {
  server.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
  });

  server.get('/openapi.json', () => server.swagger());

  server.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: mount_prefix,
    staticCSP: CONTENT_POLICY,
    theme: { title: 'Agent Server' },
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      docExpansion: 'list',
    },
  });
  done();
};
