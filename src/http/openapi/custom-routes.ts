import type { JsonObject } from '../../core/json.ts';
import type { CustomRoute } from '../custom-app/routes.ts';
import { pathTemplate } from '../plugins/route-table.ts';

export const CUSTOM_GROUP = {
  name: 'Custom routes',
  description: "Routes of the project's own app (`http.app`).",
};

type Paths = Readonly<Record<string, JsonObject>>;

/** Adds the custom routes to the document; only their method and path are known. */
export function withCustomRoutes(paths: Paths, routes: readonly CustomRoute[]): Record<string, JsonObject> {
  const all: Record<string, JsonObject> = { ...paths };
  for (const { method, path } of routes) {
    const template = pathTemplate(path);
    const name = method.toLowerCase();
    // The app answers first, but the server's own route is the better documented one.
    if (paths[template]?.[name] !== undefined) continue;
    all[template] = {
      ...all[template],
      [name]: { ...operationOf(method, template), operationId: idFor(all, method, template) },
    };
  }
  return all;
}

/** Operation ids are unique: `/a-b` and `/a_b` would collide. */
function idFor(all: Paths, method: string, template: string): string {
  const known = new Set(
    Object.values(all).flatMap((methods) =>
      Object.values(methods).map((each) => (each as JsonObject)['operationId']),
    ),
  );
  const plain = `custom_${method.toLowerCase()}${template.replace(/\W+/g, '_')}`;
  let id = plain;
  for (let count = 2; known.has(id); count++) id = `${plain}${count}`;
  return id;
}

function operationOf(method: string, template: string): JsonObject {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return {
    summary: `${method} ${template}`,
    tags: [CUSTOM_GROUP.name],
    ...(names.length > 0 && {
      parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    }),
    ...(['POST', 'PUT', 'PATCH'].includes(method) && {
      requestBody: { content: { 'application/json': { schema: {} } } },
    }),
    responses: { default: { description: "Answered by the project's own app." } },
  };
}
