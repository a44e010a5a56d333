/** An operation of the OpenAPI document, ready to be called. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Needs no key. */
  readonly open: boolean;
  /** The example of the document. */
  readonly body: Record<string, unknown> | undefined;
  /** JSON Schema of the body. */
  readonly schema: object | undefined;
}

interface Described {
  operationId: string;
  security?: unknown[];
  requestBody?: { content: Record<string, { example?: Record<string, unknown>; schema?: object }> };
}

/** Every operation of a document. */
export function operationsOf(document: { paths: Record<string, Record<string, Described>> }): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, requestBody }]) => ({
      id: operationId,
      method: method.toUpperCase() as Operation['method'],
      path,
      open: security?.length === 0,
      body: requestBody && (Object.values(requestBody.content)[0]?.example ?? {}),
      schema: requestBody && Object.values(requestBody.content)[0]?.schema,
    })),
  );
}

/** The path with ids in the places of its parameters. */
export function addressOf({ path }: Operation, ids: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'nothing');
}
