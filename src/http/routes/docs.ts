import swaggerUi from '@fastify/swagger-ui';
import type { FastifyPluginCallback } from 'fastify';
import { followColorScheme, operationFilter, STYLE } from '../docs-page.ts';
import { linksFrom } from '../openapi/document.ts';
import { guideRoutes } from './guides.ts';

/** All assets are served from here: the page works offline, and over plain HTTP. */
const CONTENT_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'self'",
  "object-src 'none'",
].join('; ');

/** The document and its page are public: the page is where a user enters an API key. */
export const docsRoutes: FastifyPluginCallback<{ mount_prefix: string }> = (
  server,
  { mount_prefix },
  done,
) => {
  server.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
  });

  const links = linksFrom(mount_prefix);
  server.get('/openapi.json', () => ({ ...server.swagger(), ...links }));
  guideRoutes(server, { docs: `${mount_prefix}/docs` });

  server.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: mount_prefix,
    transformSpecification: (document) => ({ ...document, ...links }),
    transformSpecificationClone: false,
    staticCSP: CONTENT_POLICY,
    theme: {
      title: 'Agent Server',
      js: [{ filename: 'color-scheme.js', content: `(${followColorScheme})()` }],
      css: [{ filename: 'page.css', content: STYLE }],
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
  done();
};
