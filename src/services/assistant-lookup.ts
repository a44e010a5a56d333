import { InvalidInput } from '../core/errors.ts';
import { isUuid, systemAssistantId } from '../core/ids.ts';
import type { GraphRegistry } from '../graphs/graph.ts';
import { unknownGraph } from '../graphs/registry.ts';
import type { Assistant } from '../schemas/assistants.ts';
import type { AssistantRepository } from '../storage/assistants.ts';

/** Undefined when there is none; `InvalidInput` for what is neither an id nor a graph's name. */
export type FindAssistant = (id: string) => Promise<Assistant | undefined>;

/** Finds an assistant by its id, or the system assistant of a graph by the graph's name (CONTRACT §2.1). */
export function findAssistant(assistants: AssistantRepository, graphs: GraphRegistry): FindAssistant {
  return async (id) => {
    if (graphs.ids.includes(id)) return assistants.get(systemAssistantId(id));
    if (!isUuid(id)) throw new InvalidInput('Invalid assistant ID: must be a UUID');
    return assistants.get(id.toLowerCase());
  };
}

export function requireGraph({ ids }: GraphRegistry, graph_id: string): void {
  if (!ids.includes(graph_id)) throw unknownGraph(graph_id, ids);
}
