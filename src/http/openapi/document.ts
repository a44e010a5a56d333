import type { FastifyInstance, RouteOptions } from 'fastify';
import type { JsonObject } from '../../core/json.ts';
import { REQUESTS, RESPONSES } from '../../schemas/named.ts';
import { EXAMPLES } from '../../schemas/request-params.ts';
import type { CustomRoute } from '../custom-app/routes.ts';
import { pathTemplate } from '../plugins/route-table.ts';
import { CUSTOM_GROUP, withCustomRoutes } from './custom-routes.ts';
import { definition } from './json-schema.ts';
import { operation } from './operation.ts';
import { type SecurityDocument, securityOf, withSecurity } from './security.ts';
import { GROUPS } from './tags.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI document of all routes, built on the first call; call when the server is ready. */
    readonly openApiDocument: () => JsonObject;
  }
}

const DESCRIPTION = `Serves graphs as assistants, threads and runs.

If the server requires API keys, send one as \`X-Api-Key\`; **Authorize** stores it for this page. The examples build on each other:
create the thread first, then run an assistant on it.`;

export interface DocumentOptions {
  readonly version: string;
  /** Graphs of this server, for the examples. */
  readonly graph_ids: readonly string[];
  readonly mount_prefix: string;
  readonly security: SecurityDocument;
  /** Routes of the custom app. */
  readonly custom_routes: readonly CustomRoute[];
}

/**
 * Documents every route registered after it as OpenAPI 3.1, from the schemas that validate requests. Built on
 * demand.
 */
export function useOpenApi(server: FastifyInstance, options: DocumentOptions): void {
  const routes: RouteOptions[] = [];
  server.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') routes.push(route);
  });
  let document: JsonObject | undefined;
  server.decorate('openApiDocument', () => {
    document ??= documentOf(routes, options);
    return document;
  });
}

function documentOf(routes: readonly RouteOptions[], options: DocumentOptions): JsonObject {
  const { version, graph_ids, mount_prefix, custom_routes } = options;
  const security = securityOf(options.security);
  const paths: Record<string, JsonObject> = {};
  const groups = new Map<string, OwnGroup>();
  for (const { schema, url, method, config } of routes) {
    // The only route outside the prefix is a second `/ok`.
    if (!schema?.operationId || !url.startsWith(`${mount_prefix}/`)) continue;
    const path = pathTemplate(url.slice(mount_prefix.length));
    const described = operation({ schema, config }, graph_ids[0] ?? EXAMPLES.graph);
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: described };
    for (const name of schema.tags ?? []) {
      const { tag_description: description, tag_after: after } = schema;
      groups.set(
        name,
        description === undefined ? (groups.get(name) ?? { name }) : { name, description, after },
      );
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Server', version, description: DESCRIPTION, license: { name: 'MIT' } },
    ...linksFrom(mount_prefix),
    security: security.security,
    tags: [...allGroups(groups), ...(custom_routes.length > 0 ? [CUSTOM_GROUP] : [])],
    paths: withSecurity(withCustomRoutes(paths, custom_routes), options.security),
    components: {
      securitySchemes: security.securitySchemes,
      schemas: { ...definitions(REQUESTS, 'input'), ...definitions(RESPONSES, 'output') },
    },
  };
}

/** A group that route files declare themselves. */
interface OwnGroup {
  readonly name: string;
  readonly description?: string;
  /** The shared group that it follows; the last one without it. */
  readonly after?: string | undefined;
}

/** The shared groups in their order, and those that route files declare. */
function allGroups(used: ReadonlyMap<string, OwnGroup>) {
  const own = [...used.values()].filter(({ name }) => !GROUPS.some((group) => group.name === name));
  const following = (shared: string | undefined) =>
    own.filter(({ after }) => after === shared).map(({ after: _, ...group }) => group);
  const all = GROUPS.flatMap((group) => [...(used.has(group.name) ? [group] : []), ...following(group.name)]);
  return [...all, ...following(undefined)];
}

/** Links that depend on the prefix: a server with two prefixes serves the document under both. */
export function linksFrom(mount_prefix: string) {
  return {
    servers: [{ url: mount_prefix || '/' }],
    externalDocs: {
      description: 'Guides: runs, streaming, authentication, deployment and more',
      url: `${mount_prefix}/docs/guides`,
    },
  };
}

function definitions(schemas: typeof REQUESTS, io: 'input' | 'output'): JsonObject {
  const byName = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.map(([name, schema]) => [name, definition(schema, io)]));
}
