import type { Client } from '@langchain/langgraph-sdk';

/** A run on a thread of its own, which has ended, and whose events are kept. */
export async function endedRun(
  client: Client,
  assistant: string,
  payload: Parameters<Client['runs']['create']>[2],
): Promise<{ thread_id: string; run_id: string }> {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, assistant, { streamResumable: true, ...payload });
  await client.runs.join(thread_id, run_id);
  return { thread_id, run_id };
}
