import type { McpServer } from '@modelcontextprotocol/server';
import type { Actor } from '../../auth/actor.ts';

/** Registers the project's tools, resources, prompts and completions on the MCP server of one request. */
export type RegisterCustomTools = (
  server: McpServer,
  of: { readonly request: Request; readonly auth: Actor['user'] },
) => unknown;

type Handler = (request: unknown, ctx: unknown) => Promise<{ tools?: { name: string }[] }>;

/** Tools registered by the project, listed beside the assistants. */
export interface CustomTools {
  list(request: unknown, ctx: unknown): Promise<{ name: string }[]>;
  call(request: unknown, ctx: unknown): Promise<unknown>;
}

/** Runs the project's `register` and captures its tool handlers, which the handlers for assistants replace. */
export async function registerCustomTools(server: McpServer, register: () => unknown): Promise<CustomTools> {
  const handlers = new Map<string, Handler>();
  const lowLevelServer = server.server as unknown as {
    setRequestHandler: (method: string, ...rest: unknown[]) => void;
  };
  const set = lowLevelServer.setRequestHandler.bind(lowLevelServer);
  lowLevelServer.setRequestHandler = (method, ...rest) => {
    handlers.set(method, rest.at(-1) as Handler);
    set(method, ...rest);
  };
  await register();
  lowLevelServer.setRequestHandler = set;
  return {
    list: async (request, ctx) => (await handlers.get('tools/list')?.(request, ctx))?.tools ?? [],
    call: async (request, ctx) => handlers.get('tools/call')?.(request, ctx),
  };
}
