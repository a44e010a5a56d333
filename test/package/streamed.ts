import { Client } from '@langchain/langgraph-sdk';

/** How many pieces of its answer the agent of a template streams. */
export async function streamedBy(apiUrl: string, apiKey?: string): Promise<number> {
  const client = new Client({ apiUrl, ...(apiKey !== undefined && { apiKey }) });
  const input = { messages: [{ role: 'user', content: 'Hello' }] };
  let pieces = 0;
  for await (const { event } of client.runs.stream(null, 'agent', { input, streamMode: 'messages-tuple' }))
    if (event === 'messages') pieces += 1;
  return pieces;
}
