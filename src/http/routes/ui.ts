import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { UiBundle } from '../../graphs/ui/bundle.ts';
import { UiAssetPath, UiComponent, UiPath } from '../../schemas/ui.ts';
import type { UiService } from '../../services/ui.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const tags = [TAGS.assistants];
const failures = {
  404: 'There is no UI \'agent\'. Name its file under "ui" in the configuration.',
  422: 'UI \'agent\' does not build: agent/ui.tsx:1:23: Could not resolve "./card.tsx"',
};

const FRAGMENT = {
  content: {
    'text/html': {
      schema: z.string(),
      example: `<script src="http://localhost:8123/ui/research/entrypoint.js" onload='__LGUI_research.render("finding", "{{shadowRootId}}")'></script>`,
    },
  },
};
const FILE = {
  content: { 'text/javascript': { schema: z.string() }, 'text/css': { schema: z.string() } },
};

export function uiRoutes(
  server: FastifyInstance,
  { ui, mount_prefix }: { ui: UiService; mount_prefix: string },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/ui/:assistant_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'load_ui_component',
        summary: 'Load UI component',
        description: 'HTML that loads a component into a page, for `LoadExternalComponent` of the SDK.',
        tags,
        params: UiPath,
        body: UiComponent,
        example: { name: 'finding' },
        response: { 200: FRAGMENT },
        failures,
      },
    },
    async (request, reply) => {
      const bundle = await ui.find(request.actor, request.params.assistant_id);
      const base = `${originOf(request)}${mount_prefix}/ui/${encodeURIComponent(bundle.name)}`;
      reply.type('text/html; charset=utf-8');
      return uiFragment(bundle, request.body.name, base);
    },
  );

  server.get<{ Params: UiAssetPath }>(
    '/ui/:assistant_id/:file',
    {
      config: { open: true },
      schema: {
        operationId: 'get_ui_file',
        summary: 'Get UI file',
        description: 'The script or style sheet of the components, as referenced by `Load UI component`.',
        tags,
        params: UiAssetPath,
        response: { 200: FILE },
        failures,
      },
    },
    async ({ params, headers }, reply) => {
      const { type, content, etag } = await ui.asset(params.assistant_id, params.file);
      // Pages of other origins load it, and have to ask whether it is still the same.
      reply.headers({ etag, 'cache-control': 'no-cache', 'cross-origin-resource-policy': 'cross-origin' });
      if (headers['if-none-match'] === etag) return reply.code(304).send();
      return reply.type(type).send(content);
    },
  );
}

/**
 * As the official server has it: the scheme of the page, which a proxy in front of the server knows better, but
 * a page that came over HTTPS reaches its own machine over HTTP only.
 */
function originOf({ host, hostname }: FastifyRequest): string {
  if (!host) return '';
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? `http://${host}` : `//${host}`;
}

/**
 * What the official client puts into the shadow root of an element, with the element's id in place of
 * `{{shadowRootId}}` (CONTRACT §2, `/ui`). `base` is where the bundle's files are.
 */
function uiFragment({ assets, global }: UiBundle, component: string, base: string): string {
  const tags = assets.map(({ file }) => {
    const address = escapeAttribute(`${base}/${file}`).replaceAll('"', '&quot;');
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${address}" />`;
    const call = `${global}.render(${escapeAttribute(JSON.stringify(component))}, "{{shadowRootId}}")`;
    return `<script src="${address}" onload='${call}'></script>`;
  });
  // Style sheets first, so that they load before there is something to style.
  return tags.sort().join('\n');
}

/** For an attribute in single quotes: the double ones within stay readable. */
function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
}
