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
  /** Where the graphs of a thread remember outside of any run. */
  readonly memory: (thread_id: string) => GraphMemory;
}

/** The graph that ran last on a thread, with all it needs to look at the thread's checkpoints. */
export interface ThreadGraph {
  readonly graph: GraphRuntime;
  readonly memory: GraphMemory;
  /** The configuration that names a checkpoint of this thread; `{}` names the latest. */
  config(checkpoint: CheckpointConfig): GraphConfig;
}

/**
 * Opens the graph of a thread. Undefined when no graph ran there and none was named in its metadata; `NotFound` when
 * the thread is missing or not visible, or its graph is no longer configured.
 */
export async function openThreadGraph(
  { threads, assistants, graphs, memory }: ThreadGraphDeps,
  thread_id: string,
  access: AccessContext,
  visibility?: Visibility,
): Promise<ThreadGraph | undefined> {
  const thread = await threads.get(thread_id, ['metadata'], visibility);
  if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
  const graph_id = thread.metadata['graph_id'];
  if (typeof graph_id !== 'string') return undefined;
  const assistant = await assistantOf(thread, assistants);
  // Only for the graph's factory: a checkpoint's metadata must not carry the assistant's configuration.
  const configurable = { ...assistant?.config.configurable, thread_id, graph_id };
  const graph = await graphs.get(
    graph_id,
    { ...assistant?.config, configurable },
    access,
    assistant?.context,
  );
  return {
    graph,
    memory: memory(thread_id),
    config: (checkpoint) => checkpointConfig(thread_id, graph_id, checkpoint),
  };
}

async function assistantOf(thread: Thread, assistants: AssistantRepository) {
  const assistant_id = thread.metadata['assistant_id'];
  return typeof assistant_id === 'string' ? assistants.get(assistant_id) : undefined;
}

/** A client's own `thread_id` is ignored: a checkpoint of another thread is none of this one's. */
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
    // Goes into the checkpoint of an update (CONTRACT §2.2).
    metadata: { graph_id },
  };
}
