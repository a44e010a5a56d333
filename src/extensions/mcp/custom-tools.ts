import type { McpServer, ScopeChallengeHandler } from '@modelcontextprotocol/server';
import type { Actor } from '../../auth/actor.ts';
import { importFromProject } from '../../graphs/project/load.ts';

/** The project's function: registers its tools, resources, prompts and completions on the MCP server of one request. */
export type RegisterCustomTools = (
  server: McpServer,
  of: { readonly request: Request; readonly auth: Actor['user'] },
) => unknown;

/** Imports the function that `mcp.app` names. Rejects if it is not a function. */
export function importRegistration(app: string, root: string): Promise<RegisterCustomTools> {
  return importFromProject(app, root, registrationOf);
}

function registrationOf(exported: unknown): RegisterCustomTools {
  if (typeof exported !== 'function') throw new Error(`expected a function, got ${typeof exported}`);
  return exported as RegisterCustomTools;
}

/** The request that an MCP server is created for. */
export interface ServedRequest {
  /** Its signal aborts when the response has ended, whether or not it is complete. */
  readonly request: Request;
  readonly auth: Actor['user'];
  /** Absent for clients of revisions before 2026-07-28, which negotiate it. */
  readonly revision: string | undefined;
  /** The tool that the request calls, if any. */
  readonly tool_name: string | undefined;
}

/**
 * Adds what the project registers to the MCP server of one request, in this process or with handlers that call another. The
 * project's tools are returned instead, because they are listed together with the assistants.
 */
export type ExtendMcpServer = (server: McpServer, of: ServedRequest) => Promise<CustomTools>;

/** Tools registered by the project. */
export interface CustomTools {
  list(request: unknown, ctx: unknown): Promise<{ name: string }[]>;
  call(request: unknown, ctx: unknown): Promise<unknown>;
  /** What the MCP server cannot know about tools in another process. */
  readonly remote?: RemoteTools;
}

export interface RemoteTools {
  /**
   * JSON Schema of the arguments of the tool that the request calls; `undefined` if the project does not define
   * the tool.
   */
  readonly input_schema: Record<string, unknown> | undefined;
  /** OAuth scopes that the project requires for a request. */
  readonly scopeChallenge: ScopeChallengeHandler;
}

/** A handler with its method; `is_spec` if the method is one of MCP, and not of the project. */
type OnHandler = (method: string, handler: Handler, is_spec: boolean) => Handler;
type Handler = (request: unknown, ctx: unknown) => unknown;

/** Calls `onHandler` with each request handler that `register` sets, and sets what it returns. */
export async function interceptHandlers(
  server: McpServer,
  register: () => unknown,
  onHandler: OnHandler,
): Promise<void> {
  const lowLevelServer = server.server as unknown as {
    setRequestHandler: (method: string, ...rest: unknown[]) => void;
  };
  const set = lowLevelServer.setRequestHandler.bind(lowLevelServer);
  lowLevelServer.setRequestHandler = (method, ...rest) => {
    const handler = rest.pop() as Handler;
    set(method, ...rest, onHandler(method, handler, rest.length === 0));
  };
  await register();
  lowLevelServer.setRequestHandler = set;
}

/** Runs the project's function in this process. The handlers for assistants replace those of its tools. */
export function inThisProcess(register: RegisterCustomTools): ExtendMcpServer {
  return async (server, { request, auth }) => {
    const handlers = new Map<string, Handler>();
    await interceptHandlers(
      server,
      () => register(server, { request, auth }),
      (method, handler) => {
        handlers.set(method, handler);
        return handler;
      },
    );
    return {
      list: async (asked, ctx) =>
        ((await handlers.get('tools/list')?.(asked, ctx)) as { tools?: { name: string }[] })?.tools ?? [],
      call: async (asked, ctx) => handlers.get('tools/call')?.(asked, ctx),
    };
  };
}

/** For a project that registers nothing. */
export const NO_CUSTOM_TOOLS: CustomTools = { list: async () => [], call: async () => undefined };
