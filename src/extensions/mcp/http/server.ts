import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/server';
import { ServerError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { unlessAborted } from '../../../core/timers.ts';
import { type ExtendMcpServer, NO_CUSTOM_TOOLS, type RemoteTools } from '../custom-tools.ts';
import { SERVER_OPTIONS, serverInfo } from '../server-options.ts';
import type { AssistantTool, ToolPage } from '../tools.ts';
import { reportInvalidParams } from './invalid-params.ts';
import { type Caller, callTool, pendingCallCodec, type ToolCallDeps } from './tool-call.ts';

export interface McpServerDeps extends ToolCallDeps {
  readonly version: string;
  /** Adds what the project registers; `undefined` if it registers nothing. */
  readonly extend: ExtendMcpServer | undefined;
}

const PAGE = 100;

/**
 * MCP server of one request: the caller's assistants as tools, and what the project registers. Stateless
 * between requests. `revision`: protocol revision of the request, if 2026-07-28 or later.
 */
export async function mcpServer(
  parts: McpServerDeps,
  caller: Caller,
  request: Request,
  revision?: string,
): Promise<McpServer> {
  const codec = pendingCallCodec(await parts.mcp.stateKey(), caller.actor);
  const { tool_name } = caller;
  // The call itself reports the error.
  const called =
    tool_name === undefined ? undefined : await findTool(parts, caller, tool_name).catch(() => undefined);
  const mcp = createMcpServer(parts.version, codec, called);
  const served = { request, auth: caller.actor.user, revision, tool_name };
  const customTools = (await parts.extend?.(mcp, served)) ?? NO_CUSTOM_TOOLS;
  mcp.remoteTools = customTools.remote;

  /** The URL of one assistant exposes that tool only. */
  const listCustomTools = async (asked: unknown, ctx: unknown) =>
    caller.assistant_id === undefined ? ((await customTools.list(asked, ctx)) as Tool[]) : [];

  // After the project's tools: the SDK installs its own tool handlers with the first of them, or here.
  mcp.server.registerCapabilities({ tools: { listChanged: true } });

  mcp.server.setRequestHandler('tools/list', (asked, ctx) =>
    withMcpErrors(parts.logger, async () => {
      const { cursor } = asked.params ?? {};
      const custom = await listCustomTools(asked, ctx);
      const { tools, last } = await listTools(parts, caller, cursor === undefined ? '' : parseCursor(cursor));
      const others = tools.filter(({ name }) => custom.every((each) => each.name !== name));
      return {
        // Custom tools are few and all on the first page.
        tools: [...(cursor === undefined ? custom : []), ...others.map(toolOf)],
        ...(last === undefined ? {} : { nextCursor: cursorAfter(last) }),
      };
    }),
  );
  mcp.server.setRequestHandler('tools/call', (asked, ctx) =>
    withMcpErrors(parts.logger, async () => {
      const { name } = asked.params;
      const isCustom = (await listCustomTools(asked, ctx)).some((each) => each.name === name);
      if (isCustom)
        return (await unlessAborted(caller.refused, customTools.call(asked, ctx))) as CallToolResult;
      // A batch (revision 2025-03-26) may call several tools.
      const known = name === tool_name ? called : undefined;
      const tool = known ?? (await findTool(parts, caller, name));
      return unlessAborted(caller.refused, callTool({ ...parts, ...caller, codec, tool }, asked.params, ctx));
    }),
  );
  return mcp;
}

/** Returns `undefined` if the caller has no tool of that name. */
async function findTool(
  { mcp }: McpServerDeps,
  { actor, assistant_id }: Caller,
  name: string,
): Promise<AssistantTool | undefined> {
  const tool = await mcp.find(actor, name);
  if (!tool || assistant_id === undefined) return tool;
  // `assistant_id` may be a graph name.
  const only = await mcp.find(actor, assistant_id);
  return tool.assistant.assistant_id === only?.assistant.assistant_id ? tool : undefined;
}

async function listTools(
  { mcp }: McpServerDeps,
  { actor, assistant_id }: Caller,
  after: string,
): Promise<ToolPage> {
  if (assistant_id === undefined) return mcp.list(actor, { after, limit: PAGE });
  const tool = await mcp.find(actor, assistant_id);
  return { tools: tool ? [tool] : [] };
}

function toolOf({ name, title, description, annotations, schemas }: AssistantTool) {
  return {
    name,
    title,
    description,
    annotations,
    inputSchema: schemas.input as { type: 'object' },
    ...(schemas.output ? { outputSchema: schemas.output as { type: 'object' } } : {}),
  };
}

function cursorAfter(name: string): string {
  return Buffer.from(name).toString('base64url');
}

function parseCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (cursor !== '' && cursorAfter(name) === cursor) return name;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Invalid cursor: list the tools again from the first page.',
  );
}

/** Logs unexpected errors and hides their text, which the SDK would send to the client. */
async function withMcpErrors<T>(logger: Logger, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof ServerError) {
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
    }
    logger.error('MCP request failed', { error });
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  }
}

/** Cache lifetime of the tool list, ms; a listening client is notified of changes. */
const LIST_TTL_MS = 60_000;

/**
 * Exposes what the SDK needs of tools that are not registered on the server itself: the input schema of the called one,
 * to check a call's headers against its arguments, and the scopes that the project requires.
 */
class CallServer extends McpServer {
  readonly #tool: AssistantTool | undefined;
  /** The project's tools in another process. */
  remoteTools: RemoteTools | undefined;

  constructor(tool: AssistantTool | undefined, ...args: ConstructorParameters<typeof McpServer>) {
    super(...args);
    this.#tool = tool;
    const own = this.resolveScopeChallenge;
    this.resolveScopeChallenge = (context) => (this.remoteTools?.scopeChallenge ?? own)(context);
  }

  override connect(transport: Transport): Promise<void> {
    reportInvalidParams(transport);
    return super.connect(transport);
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    const own = super.toolInputSchemaJson(name);
    return own ?? this.remoteTools?.input_schema ?? this.#tool?.schemas.input;
  }
}

/** `tool`: the one that the request calls; `verify` checks the signed state that a client returns with its answers. */
function createMcpServer(
  version: string,
  { verify }: Pick<RequestStateCodec, 'verify'>,
  tool: AssistantTool | undefined,
): CallServer {
  return new CallServer(tool, serverInfo(version), {
    ...SERVER_OPTIONS,
    cacheHints: {
      'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
      'server/discover': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
    },
    requestState: { verify },
  });
}
