import { api, dataOf, type Schemas } from '../../api/client.ts';

/** Forks a checkpoint: copies it to a new branch as the newest one. Resolves to the id of the copy. */
export function fork(thread_id: string, checkpoint_id: string): Promise<string> {
  return update(thread_id, { values: null, checkpoint_id });
}

/** Writes a checkpoint after another one, as if a node had returned the values. Resolves to its id. */
export function edit(
  thread_id: string,
  checkpoint_id: string,
  values: NonNullable<Schemas['ThreadStateUpdate']['values']>,
  as_node: string | undefined,
): Promise<string> {
  return update(thread_id, { values, checkpoint_id, ...(as_node === undefined ? {} : { as_node }) });
}

async function update(thread_id: string, body: Schemas['ThreadStateUpdate']): Promise<string> {
  const params = { path: { thread_id } };
  return (await dataOf(api.POST('/threads/{thread_id}/state', { params, body }))).checkpoint_id;
}

/** Starts a run from a checkpoint, with the thread's assistant. Resolves to its id. */
export async function rerun(
  { thread_id, metadata }: Pick<Schemas['Thread'], 'thread_id' | 'metadata'>,
  checkpoint_id: string,
): Promise<string> {
  const body = { assistant_id: assistantOf(metadata) ?? '', checkpoint_id };
  const params = { path: { thread_id } };
  return (await dataOf(api.POST('/threads/{thread_id}/runs', { params, body }))).run_id;
}

/** The assistant of a thread's runs, or else the graph it was created for. */
export function assistantOf(metadata: Schemas['Thread']['metadata']): string | undefined {
  const { assistant_id, graph_id } = metadata as Readonly<Record<string, unknown>>;
  return [assistant_id, graph_id].find((id) => typeof id === 'string');
}
