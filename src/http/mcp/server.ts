import {
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  Server,
} from '@modelcontextprotocol/server';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { pendingCalls } from './pending-call.ts';
import { type Caller, callTool, type ToolCallParts } from './tool-call.ts';

export interface McpParts extends ToolCallParts {
  readonly version: string;
}

const PAGE = 100;
/** How long a client may keep the list of tools; it is told of changes where it listens. */
const LIST_TTL_MS = 60_000;

/** The server of one request: assistants as the tools of who calls. It keeps nothing between requests. */
export async function mcpServer(parts: McpParts, caller: Caller): Promise<Server> {
  const codec = pendingCalls(await parts.mcp.stateKey(), caller.actor);
  const server = newServer(parts.version, codec);

  server.setRequestHandler('tools/list', async ({ params }) => {
    const after = params?.cursor === undefined ? '' : nameAt(params.cursor);
    const found = await listed(parts, caller, after);
    const page = found.slice(0, PAGE);
    const last = found.length > PAGE ? page.at(-1) : undefined;
    return { tools: page.map(toolOf), ...(last ? { nextCursor: cursorAfter(last.name) } : {}) };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) =>
    callTool({ ...parts, ...caller, codec }, params, ctx),
  );
  return server;
}

function newServer(version: string, { verify }: Pick<RequestStateCodec, 'verify'>): Server {
  return new Server(
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
