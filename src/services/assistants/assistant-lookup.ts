import type { AccessEvent, Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isUuid, systemAssistantId } from '../../core/ids.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import { unknownGraph } from '../../graphs/runtime/registry.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';

/**
 * Undefined when there is none that the actor may do this to; `InvalidInput` for what is neither an id nor a graph's
 * name. `value` is what shall be done, which rules may change.
 */
export type FindAssistant = (
  actor: Actor,
  event: AccessEvent & `assistants:${string}`,
  id: string,
  value?: Record<string, unknown>,
) => Promise<Assistant | undefined>;

/** Finds an assistant by its id, or the system assistant of a graph by the graph's name (CONTRACT §2.1). */
export function assistantFinder(assistants: AssistantRepository, graphs: GraphRegistry): FindAssistant {
  return async (actor, event, id, value = {}) => {
    const assistant_id = assistantIdOf(id, graphs);
    if (!isUuid(assistant_id)) throw new InvalidInput('Invalid assistant ID: must be a UUID');
    value['assistant_id'] = assistant_id;
    return assistants.get(assistant_id, await authorize(actor, event, value));
  };
}

/** The id of a graph's system assistant for the graph's name; what is no name is an id. */
export function assistantIdOf(id: string, { ids }: Pick<GraphRegistry, 'ids'>): string {
  return ids.includes(id) ? systemAssistantId(id) : id.toLowerCase();
}

export function requireGraph({ ids }: GraphRegistry, graph_id: string): void {
  if (!ids.includes(graph_id)) throw unknownGraph(graph_id, ids);
}
