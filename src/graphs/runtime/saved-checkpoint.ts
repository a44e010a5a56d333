/** The part that is used here of what LangGraph's checkpointers return. */
interface SavedCheckpoint {
  readonly checkpoint: { readonly id: string };
  readonly metadata?: { readonly source?: string };
  readonly pendingWrites?: readonly (readonly [task_id: string, channel: string, value: unknown])[];
}

/** The checkpoint that `configurable` names, or the newest one of its thread; `undefined` if there is none. */
export function savedCheckpoint(
  checkpointer: unknown,
  configurable: object,
): Promise<SavedCheckpoint | undefined> {
  const saver = checkpointer as { getTuple(config: object): Promise<SavedCheckpoint | undefined> };
  return saver.getTuple({ configurable });
}
