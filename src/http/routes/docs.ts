import type { FastifyInstance, FastifyPluginCallback, RouteHandlerMethod } from 'fastify';
import { lazy } from '../../core/lifecycle.ts';
import type { ViewerOptions } from '../docs-viewer.ts';
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

/** Paths of the viewer below `/docs`. */
const VIEWER_PATHS = [
  '/static/theme/page.css',
  '/static/theme/color-scheme.js',
  '/static/theme/logo.svg',
  '/',
  '/static/index.html',
  '/static/swagger-initializer.js',
  '/json',
  '/yaml',
];
const VIEWER_FILES = '/static/*';

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
  const document = () => ({ ...server.openApiDocument(), ...links });
  server.get('/openapi.json', document);
  guideRoutes(server, { docs: `${mount_prefix}/docs` });
  server.register(
    (scope, _options, registered) => {
      viewerRoutes(scope, { mount_prefix, document });
      registered();
    },
    { prefix: '/docs' },
  );
  done();
};

/** The viewer is loaded with its first request, because it takes 70 ms. */
function viewerRoutes(server: FastifyInstance, options: ViewerOptions): void {
  const handlers = lazy(async () => (await import('../docs-viewer.ts')).viewerHandlers(options));
  const answer =
    (path: string): RouteHandlerMethod =>
    async (request, reply) => {
      await (await handlers()).get(`/docs${path}`)?.call(server, request, reply);
      return reply;
    };
  server.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', CONTENT_POLICY);
  });
  for (const path of VIEWER_PATHS) server.get(path, answer(path));
  server.route({ method: ['HEAD', 'GET'], url: VIEWER_FILES, handler: answer(VIEWER_FILES) });
}
