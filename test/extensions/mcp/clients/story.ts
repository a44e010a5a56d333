import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { until } from '../../../support/until.ts';
import type { Connect, McpClient } from './told.ts';

/** The graphs that the story goes through. */
export const GRAPHS_OF_STORY = ['chat', 'chat-question', 'zod-state', 'ten-steps', 'sleeper'];

interface Place {
  readonly url: string;
  /** Whether cancelling is part of it: a server of the older revisions hears of it on the same process only. */
  readonly cancels: boolean;
}

/** All that a client does with tools, against the server at `url`, which cancels what nobody waits for. */
export async function tellStory({ url, cancels }: Place, connect: Connect): Promise<void> {
  const client = await connect(`${url}/mcp`);
  try {
    expect([...(await client.tools())].sort()).toEqual([...GRAPHS_OF_STORY].sort());
    await talk(client);
    await progress(client);
    await question(client);
    if (cancels) await cancel(client, url);
  } finally {
    await client.close();
  }
}

async function talk(client: McpClient): Promise<void> {
  expect(await client.call({ tool: 'chat', arguments: { messages: 'Hi' } })).toMatchObject({
    text: 'You said: Hi',
    is_error: false,
  });
  const written = { topic: 'sea', length: 2, words: ['sea', 'sea'] };
  expect(await client.call({ tool: 'zod-state', arguments: { topic: 'sea', length: 2 } })).toMatchObject({
    text: JSON.stringify(written),
    structured: written,
  });
}

async function progress(client: McpClient): Promise<void> {
  const heard: number[] = [];
  await client.call({ tool: 'ten-steps', onProgress: (each) => heard.push(each) });
  expect(heard).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

async function question(client: McpClient): Promise<void> {
  const result = await ask(client, async (asked) => {
    expect(asked).toBe('What is your name?');
    return 'Ada';
  });
  expect(result).toBe('Hello, Ada.');
}

/** Calls a tool that asks, and says what it answers to the answer: within the call, or on the thread of its result. */
export async function ask(client: McpClient, answer: (question: string) => Promise<string>): Promise<string> {
  const call = { tool: 'chat-question', arguments: { messages: 'Hi' } };
  if (client.can_be_asked) return (await client.call({ ...call, answer })).text;
  const { text, thread_id = '' } = await client.call(call);
  const resume = await answer(text);
  return (await client.call({ tool: call.tool, arguments: { resume }, thread_id })).text;
}

async function cancel(client: McpClient, url: string): Promise<void> {
  const thread_id = randomUUID();
  const statuses = async () => {
    const runs: unknown = await (await fetch(`${url}/threads/${thread_id}/runs`)).json();
    return Array.isArray(runs) ? runs.map(({ status }) => status) : [];
  };
  const leaving = new AbortController();
  const called = client.call({
    tool: 'sleeper',
    arguments: { ms: 60_000 },
    thread_id,
    signal: leaving.signal,
  });
  called.catch(() => {});
  await until('the run executes', async () => (await statuses()).includes('running'));
  leaving.abort();
  await expect(called).rejects.toThrow();
  await until('the run is cancelled', async () => (await statuses()).includes('interrupted'));
}
