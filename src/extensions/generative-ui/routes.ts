import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TAGS } from '../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../http/plugins/validation.ts';
import type { UiBundle } from './bundle.ts';
import { UiAssetPath, UiComponent, UiPath } from './schemas.ts';
import type { UiService } from './service.ts';

const tags = [TAGS.assistants];
const failures = {
  404: 'UI \'agent\' not found. Add its file under "ui" in the configuration.',
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
      config: { open: true, any_origin: true },
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
      // Loaded cross-origin; `no-cache` makes browsers revalidate by ETag.
      reply.headers({ etag, 'cache-control': 'no-cache', 'cross-origin-resource-policy': 'cross-origin' });
      if (headers['if-none-match'] === etag) return reply.code(304).send();
      return reply.type(type).send(content);
    },
  );
}

/**
 * Protocol-relative, as in the official server, because TLS may end at a proxy. Localhost is always plain HTTP, even
 * for a page loaded over HTTPS.
 */
function originOf({ host, hostname }: FastifyRequest): string {
  if (!host) return '';
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? `http://${host}` : `//${host}`;
}

/**
 * HTML fragment that the official client inserts into a shadow root, replacing `{{shadowRootId}}` by the element's id
 * (contract §2.9). `base`: URL of the bundle's files.
 */
function uiFragment({ assets, global }: UiBundle, component: string, base: string): string {
  const tags = assets.map(({ file }) => {
    const address = escapeAttribute(`${base}/${file}`).replaceAll('"', '&quot;');
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${address}" />`;
    const call = `${global}.render(${escapeAttribute(JSON.stringify(component))}, "{{shadowRootId}}")`;
    return `<script src="${address}" onload='${call}'></script>`;
  });
  // `<link>` sorts before `<script>`: style sheets load first.
  return tags.sort().join('\n');
}

/** Escapes for a single-quoted attribute: double quotes stay readable. */
function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
}
