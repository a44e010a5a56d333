import {
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';
import type { AssistantTool } from '../../services/mcp/tools.ts';
import { inWordsOfMcp } from './errors.ts';
import { newServer } from './new-server.ts';
import { type RegisterMcp, registerOwn } from './own-tools.ts';
import { pendingCalls } from './pending-call.ts';
import { type Caller, callTool, type ToolCallParts } from './tool-call.ts';

export interface McpParts extends ToolCallParts {
  readonly version: string;
  /** The project's own; undefined when it has none. */
  readonly register: RegisterMcp | undefined;
}

const PAGE = 100;

/**
 * The server of one request: assistants as the tools of who calls, and what the project registers itself. It keeps
 * nothing between requests.
 */
export async function mcpServer(parts: McpParts, caller: Caller, request: Request): Promise<McpServer> {
  const codec = pendingCalls(await parts.mcp.stateKey(), caller.actor);
  const { tool_name } = caller;
  // What is wrong with it is told by the call.
  const called =
    tool_name === undefined ? undefined : await toolNamed(parts, caller, tool_name).catch(() => undefined);
  const mcp = newServer(parts.version, codec, called);
  const own = await registerOwn(mcp, () => parts.register?.(mcp, { request, auth: caller.actor.user }));

  /** The address of an assistant has that tool alone. */
  const listOwn = async (asked: unknown, ctx: unknown) =>
    caller.assistant_id === undefined ? ((await own.list(asked, ctx)) as Tool[]) : [];

  // After the project's: the library sets its handlers of tools with the first of them, or with this.
  mcp.server.registerCapabilities({ tools: { listChanged: true } });

  mcp.server.setRequestHandler('tools/list', (asked, ctx) =>
    inWordsOfMcp(parts.logger, async () => {
      const { cursor } = asked.params ?? {};
      const ownTools = await listOwn(asked, ctx);
      const found = await listed(parts, caller, cursor === undefined ? '' : nameAt(cursor));
      const page = found.slice(0, PAGE);
      const last = found.length > PAGE ? page.at(-1) : undefined;
      const others = page.filter(({ name }) => ownTools.every((each) => each.name !== name));
      return {
        // The project's own are few, and on the first page.
        tools: [...(cursor === undefined ? ownTools : []), ...others.map(toolOf)],
        ...(last ? { nextCursor: cursorAfter(last.name) } : {}),
      };
    }),
  );
  mcp.server.setRequestHandler('tools/call', (asked, ctx) =>
    inWordsOfMcp(parts.logger, async () => {
      const { name } = asked.params;
      const isOwn = (await listOwn(asked, ctx)).some((each) => each.name === name);
      if (isOwn) return (await own.call(asked, ctx)) as CallToolResult;
      // A batch, of 2025-03-26, calls several.
      const known = name === tool_name ? called : undefined;
      const tool = known ?? (await toolNamed(parts, caller, name));
      return callTool({ ...parts, ...caller, codec, tool }, asked.params, ctx);
    }),
  );
  return mcp;
}

/** Undefined where there is none of that name for who calls. */
async function toolNamed(
  { mcp }: McpParts,
  { actor, assistant_id }: Caller,
  name: string,
): Promise<AssistantTool | undefined> {
  const tool = await mcp.find(actor, name);
  if (!tool || assistant_id === undefined) return tool;
  // The address may say the name of a graph.
  const only = await mcp.find(actor, assistant_id);
  return tool.assistant.assistant_id === only?.assistant.assistant_id ? tool : undefined;
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
