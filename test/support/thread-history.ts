import type { Client } from '@langchain/langgraph-sdk';

/** The id of the checkpoint that the input was written to. */
export async function inputCheckpoint(client: Client, thread_id: string): Promise<string> {
  const history = await client.threads.getHistory(thread_id);
  return history.find(({ metadata }) => metadata?.step === 0)?.checkpoint.checkpoint_id as string;
}

/**
 * Forks a thread of the graph `interrupting` at its input, changes the input by hand and runs again from there. Returns
 * the history, as `historyOf`.
 */
export async function forkEditAndRerun(client: Client, thread_id: string): Promise<string> {
  const checkpointId = await inputCheckpoint(client, thread_id);
  await client.threads.updateState(thread_id, { values: null, checkpointId });
  await client.threads.updateState(thread_id, { values: { x: 7 }, checkpointId, asNode: 'before' });
  await client.runs.wait(thread_id, 'interrupting', { checkpointId });
  return historyOf(client, thread_id);
}

/** All that the histories of two threads could differ in; ids and times do differ. */
export async function historyOf(client: Client, thread_id: string): Promise<string> {
  const history = await client.threads.getHistory(thread_id, { limit: 100 });
  const at = (id?: string | null) => history.findIndex(({ checkpoint }) => checkpoint.checkpoint_id === id);
  const states = history.map(({ values, next, metadata, parent_checkpoint, tasks }) => {
    const waits = tasks.map(({ name, interrupts }) => [name, interrupts.map(({ value }) => value)]);
    const parent = at(parent_checkpoint?.checkpoint_id);
    return { values, next, step: metadata?.step, source: metadata?.source, parent, waits };
  });
  return JSON.stringify(states);
}
