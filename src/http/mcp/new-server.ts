import { McpServer, type RequestStateCodec } from '@modelcontextprotocol/server';
import type { AssistantTool } from '../../services/mcp/tools.ts';

/** How long a client may keep the list of tools; it is told of changes where it listens. */
const LIST_TTL_MS = 60_000;

/** With the schema of the tool that is called, by which the library compares the headers of a call with its arguments. */
class CallServer extends McpServer {
  readonly #tool: AssistantTool | undefined;

  constructor(tool: AssistantTool | undefined, ...like: ConstructorParameters<typeof McpServer>) {
    super(...like);
    this.#tool = tool;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return super.toolInputSchemaJson(name) ?? this.#tool?.schemas.input;
  }
}

/** `tool`: the one that the request calls; `verify` reads what a client brings back with its answers. */
export function newServer(
  version: string,
  { verify }: Pick<RequestStateCodec, 'verify'>,
  tool: AssistantTool | undefined,
): McpServer {
  return new CallServer(
    tool,
    { name: 'agent-server', title: 'Agent Server', version },
    {
      capabilities: { logging: {} },
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
