import { NotFound } from '../../core/errors.ts';
import type {
  AccessContext,
  GraphConfig,
  GraphMemory,
  GraphRegistry,
  GraphRuntime,
} from '../../graphs/graph.ts';
import type { CheckpointConfig } from '../../schemas/thread-state.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

export interface ThreadGraphDeps {
  readonly threads: ThreadRepository;
  readonly assistants: AssistantRepository;
  readonly graphs: GraphRegistry;
  /** Checkpointer and store for a thread's graph outside of a run; `import_id`: to write its imported history. */
  readonly memory: (thread_id: string, import_id?: string) => GraphMemory;
}

/** The graph that ran last on a thread, with access to the thread's checkpoints. */
export interface ThreadGraph {
  readonly graph: GraphRuntime;
  readonly memory: GraphMemory;
  /** Configuration that selects a checkpoint of this thread; `{}` selects the latest. */
  config(checkpoint: CheckpointConfig): GraphConfig;
}

/**
 * Opens a thread's graph. `undefined` if none ran there and its metadata names none; `NotFound` if the thread is
 * missing or hidden, or the graph is no longer configured.
 */
export async function openThreadGraph(
  { threads, assistants, graphs, memory }: ThreadGraphDeps,
  thread_id: string,
  access: AccessContext,
  visibility?: Visibility,
  import_id?: string,
): Promise<ThreadGraph | undefined> {
  const thread = await threads.get(thread_id, ['metadata'], visibility);
  if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
  const graph_id = thread.metadata['graph_id'];
  if (typeof graph_id !== 'string') return undefined;
  const assistant = await assistantOf(thread, assistants);
  // Only for the graph's factory: checkpoint metadata must not carry the assistant's configuration.
  const configurable = { ...assistant?.config.configurable, thread_id, graph_id };
  const graph = await graphs.get(
    graph_id,
    { ...assistant?.config, configurable },
    access,
    assistant?.context,
  );
  return {
    graph,
    memory: memory(thread_id, import_id),
    config: (checkpoint) => checkpointConfig(thread_id, graph_id, checkpoint),
  };
}

async function assistantOf(thread: Thread, assistants: AssistantRepository) {
  const assistant_id = thread.metadata['assistant_id'];
  return typeof assistant_id === 'string' ? assistants.get(assistant_id) : undefined;
}

/** Ignores a client's `thread_id`: a checkpoint of another thread does not belong to this one. */
function checkpointConfig(
  thread_id: string,
  graph_id: string,
  { checkpoint_ns, checkpoint_id, checkpoint_map }: CheckpointConfig,
): GraphConfig {
  return {
    configurable: {
      thread_id,
      checkpoint_ns: checkpoint_ns ?? '',
      ...(checkpoint_id ? { checkpoint_id } : {}),
      ...(checkpoint_map ? { checkpoint_map } : {}),
    },
    // Stored in the checkpoint of an update (contract §2.2).
    metadata: { graph_id },
  };
}
