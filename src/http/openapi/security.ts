import type { JsonObject } from '../../core/json.ts';

type Requirements = readonly Readonly<Record<string, readonly string[]>>[];

/** Authentication as documented in OpenAPI. */
export interface SecurityDocument {
  readonly has_users: boolean;
  /** The `auth.openapi` block of the configuration (contract §10), in OpenAPI's terms. */
  readonly openapi?:
    | {
        readonly securitySchemes?: Readonly<Record<string, JsonObject>> | undefined;
        readonly security?: Requirements | undefined;
        readonly paths?: Readonly<Record<string, Readonly<Record<string, JsonObject>>>> | undefined;
      }
    | undefined;
}

const KEY = { type: 'apiKey', in: 'header', name: 'X-Api-Key' };
const BEARER = { type: 'http', scheme: 'bearer' };

/** Security schemes: API keys, bearer tokens if there are users, and those that the configuration adds or overrides. */
export function securityOf({ has_users, openapi = {} }: SecurityDocument): {
  securitySchemes: Record<string, JsonObject>;
  security: Record<string, string[]>[];
} {
  const own = { ApiKeyAuth: KEY, ...(has_users ? { BearerAuth: BEARER } : {}) };
  const { securitySchemes: added, security } = openapi;
  const any = Object.keys(added ?? own).map((name) => ({ [name]: [] }));
  return {
    securitySchemes: { ...own, ...added },
    security: security ? security.map(copyOf) : any,
  };
}

function copyOf(requirement: Requirements[number]): Record<string, string[]> {
  return Object.fromEntries(Object.entries(requirement).map(([name, scopes]) => [name, [...scopes]]));
}

/** Applies the configuration's overrides of single operations, by path and method. */
export function withSecurity(
  paths: Readonly<Record<string, JsonObject>>,
  { openapi }: SecurityDocument,
): Record<string, JsonObject> {
  const overrides = openapi?.paths ?? {};
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      { ...methods, ...withOverrides(methods, overrides[path]) },
    ]),
  );
}

function withOverrides(methods: JsonObject, said: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  const known = Object.entries(said).filter(([method]) => Object.hasOwn(methods, method));
  return Object.fromEntries(
    known.map(([method, change]) => [method, { ...(methods[method] as JsonObject), ...change }]),
  );
}
