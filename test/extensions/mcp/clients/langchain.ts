import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { paramsOf } from './javascript.ts';
import { type Call, type McpClient, type Result, resultOf, type WireResult } from './told.ts';

/** `@langchain/mcp-adapters`: the tools as LangChain's, which an agent binds to its model. */
export async function connectLangchain(url: string): Promise<McpClient> {
  let onProgress: Call['onProgress'];
  const servers = new MultiServerMCPClient({
    mcpServers: { agents: { transport: 'http', url } },
    onProgress: ({ progress }) => onProgress?.(progress),
  });

  async function invoke({ tool, arguments: args = {}, signal }: Call): Promise<Result> {
    const tools = await servers.getTools();
    const found = tools.find(({ name }) => name === tool);
    const called = { type: 'tool_call' as const, id: 'call', name: tool, args: { ...args } };
    const message = await found?.invoke(called, signal ? { signal } : {});
    // One text with all that came beside it, for the model to read.
    const { text, structuredContent, meta } = JSON.parse(String(message.content)) as {
      text: string;
      structuredContent?: unknown;
      meta?: WireResult['_meta'];
    };
    return resultOf({ content: [{ text }], structuredContent, _meta: meta });
  }

  return {
    can_be_asked: false,
    tools: async () => (await servers.getTools()).map(({ name }) => name),
    async call(call) {
      ({ onProgress } = call);
      if (call.thread_id === undefined) return invoke(call);
      // A tool of LangChain has no place for the name of a memory: the client beneath has.
      const client = await servers.getClient('agents');
      const options = call.signal ? { signal: call.signal } : {};
      return resultOf((await client?.callTool(paramsOf(call), undefined, options)) as WireResult);
    },
    close: () => servers.close(),
  };
}
