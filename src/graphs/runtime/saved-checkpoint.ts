/** The part that is used here of what LangGraph's checkpointers return. */
export interface SavedCheckpoint {
  readonly checkpoint: {
    readonly id: string;
    readonly channel_values: Readonly<Record<string, unknown>>;
    readonly channel_versions: Readonly<Record<string, string | number>>;
    /** By node, then by channel. */
    readonly versions_seen: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  };
  readonly metadata?: {
    readonly source?: string;
    /** The checkpoint in whose superstep a subgraph made this one, by namespace of the graph above. */
    readonly parents?: Readonly<Record<string, string>>;
  };
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
