import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
  type Tool,
} from '@modelcontextprotocol/server';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { type RegisterMcp, registerOwn } from './own-tools.ts';
import { pendingCalls } from './pending-call.ts';
import { type Caller, callTool, type ToolCallParts } from './tool-call.ts';

export interface McpParts extends ToolCallParts {
  readonly version: string;
  /** The project's own; undefined when it has none. */
  readonly register: RegisterMcp | undefined;
}

const PAGE = 100;
/** How long a client may keep the list of tools; it is told of changes where it listens. */
const LIST_TTL_MS = 60_000;

/**
 * The server of one request: assistants as the tools of who calls, and what the project registers itself. It keeps
 * nothing between requests.
 */
export async function mcpServer(parts: McpParts, caller: Caller, request: Request): Promise<Server> {
  const codec = pendingCalls(await parts.mcp.stateKey(), caller.actor);
  const mcp = newServer(parts.version, codec);
  const own = await registerOwn(mcp, () => parts.register?.(mcp, { request, auth: caller.actor.user }));

  mcp.server.setRequestHandler('tools/list', async (asked, ctx) => {
    const { cursor } = asked.params ?? {};
    const found = await listed(parts, caller, cursor === undefined ? '' : nameAt(cursor));
    const page = found.slice(0, PAGE);
    const last = found.length > PAGE ? page.at(-1) : undefined;
    // The project's own are few, and on the first page.
    const first = cursor === undefined ? ((await own.list(asked, ctx)) as Tool[]) : [];
    return {
      tools: [...first, ...page.map(toolOf)],
      ...(last ? { nextCursor: cursorAfter(last.name) } : {}),
    };
  });
  mcp.server.setRequestHandler('tools/call', async (asked, ctx) => {
    const names = (await own.list(asked, ctx)).map(({ name }) => name);
    if (names.includes(asked.params.name)) return (await own.call(asked, ctx)) as CallToolResult;
    return callTool({ ...parts, ...caller, codec }, asked.params, ctx);
  });
  return mcp.server;
}

function newServer(version: string, { verify }: Pick<RequestStateCodec, 'verify'>): McpServer {
  return new McpServer(
    { name: 'agent-server', title: 'Agent Server', version },
    {
      capabilities: { tools: { listChanged: true }, logging: {} },
      cacheHints: {
        'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
        'server/discover': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
      },
      requestState: { verify },
      // Clients of the older revisions keep no channel on which they could be asked.
      inputRequired: { legacyShim: false },
    },
  );
}

async function listed(
  { mcp }: McpParts,
  { actor, assistant_id }: Caller,
  after: string,
): Promise<AssistantTool[]> {
  if (assistant_id === undefined) return mcp.list(actor, { after, limit: PAGE });
  const tool = await mcp.find(actor, assistant_id);
  return tool ? [tool] : [];
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

function nameAt(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (cursor !== '' && cursorAfter(name) === cursor) return name;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Invalid cursor: list the tools again from the start.',
  );
}
