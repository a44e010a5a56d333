import { Client as Modern, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { type Call, type McpClient, resultOf, type WireResult } from './told.ts';

const NAME = { name: 'test', version: '1' };

/** `@modelcontextprotocol/client` 2: as it is without options it speaks 2025-11-25; `auto` finds out what is newest. */
export async function connectClient2(url: string, mode: 'default' | 'auto'): Promise<McpClient> {
  let answer: Call['answer'];
  const client = new Modern(NAME, {
    capabilities: { elicitation: { form: {} } },
    ...(mode === 'auto' ? { versionNegotiation: { mode } } : {}),
  });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if (!answer) return { action: 'decline' };
    return { action: 'accept', content: { response: await answer(params.message) } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    can_be_asked: mode === 'auto',
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(call) {
      answer = call.answer;
      return resultOf((await client.callTool(paramsOf(call), optionsOf(call))) as WireResult);
    },
    close: () => client.close(),
  };
}

/** `@modelcontextprotocol/sdk` 1, which most programs have. */
export async function connectSdk1(url: string): Promise<McpClient> {
  const client = new Older(NAME);
  // Its types do not agree with themselves under `exactOptionalPropertyTypes`.
  await client.connect(new OlderTransport(new URL(url)) as never);
  return {
    can_be_asked: false,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (call) =>
      resultOf((await client.callTool(paramsOf(call), CallToolResultSchema, optionsOf(call))) as WireResult),
    close: () => client.close(),
  };
}

export function paramsOf({ tool, arguments: given = {}, thread_id }: Call) {
  return { name: tool, arguments: given, ...(thread_id === undefined ? {} : { _meta: { thread_id } }) };
}

function optionsOf({ onProgress, signal }: Call) {
  return {
    ...(signal ? { signal } : {}),
    ...(onProgress ? { onprogress: ({ progress }: { progress: number }) => onProgress(progress) } : {}),
  };
}
