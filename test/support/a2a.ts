import { resolve } from 'node:path';
import { lazy } from '../../src/core/lifecycle.ts';
import { a2aRoutes } from '../../src/extensions/a2a/http/routes.ts';
import { A2a } from '../../src/extensions/a2a/section.ts';
import type { A2aService } from '../../src/extensions/a2a/service.ts';
import type { RoutePlugin } from '../../src/http/server-deps.ts';

/** The graphs of `test/fixtures/a2a`. */
export const A2A_FOLDER = resolve(import.meta.dirname, '../fixtures/a2a');

export type Rpc = (method: string, params: object, headers?: Record<string, string>) => Promise<RpcAnswer>;

interface RpcAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * Has a server read the types of its graphs, as each text without messages needs them: the first message waits for them
 * only for 10 s, which is too short on a busy machine.
 */
export async function readTypes(server: Getter, graph: string): Promise<void> {
  await server.get(`/assistants/${graph}/schemas`);
}

interface Getter {
  get(path: string): Promise<unknown>;
}

interface Poster {
  post(path: string, payload: unknown, headers?: Record<string, string>): Promise<{ body: RpcAnswer }>;
}

/** JSON-RPC to an agent of a server; either version, by the name of the method. */
export function rpcTo(server: Poster, graph: string): Rpc {
  return async (method, params, headers) =>
    (await server.post(`/a2a/${graph}`, { jsonrpc: '2.0', id: 1, method, params }, headers)).body;
}

/** Its routes with only what a test puts behind them; `settings`: as the configuration has them. */
export function routesOver(service: object, settings: object = {}): RoutePlugin {
  const a2a = lazy(async () => service as A2aService);
  return (server, deps) => a2aRoutes(server, { ...deps, a2a, settings: A2a.parse(settings) });
}

let count = 0;

/** A message of 1.0; `said`: text, or the object of a data part. */
export function message(said: string | object, of: { taskId?: string; contextId?: string } = {}) {
  const part = typeof said === 'string' ? { text: said } : { data: said };
  return { messageId: `m-${++count}`, role: 'ROLE_USER', parts: [part], ...of };
}

/** The same of 0.3. */
export function oldMessage(said: string | object, of: { taskId?: string; contextId?: string } = {}) {
  const part = typeof said === 'string' ? { kind: 'text', text: said } : { kind: 'data', data: said };
  return { kind: 'message', messageId: `m-${++count}`, role: 'user', parts: [part], ...of };
}
