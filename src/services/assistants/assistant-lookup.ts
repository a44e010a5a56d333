import type { AccessEvent, Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { InvalidInput } from '../../core/errors.ts';
import { isUuid, systemAssistantId } from '../../core/ids.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import { unknownGraph } from '../../graphs/runtime/registry.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';

/**
 * Returns `undefined` if there is no assistant that the actor may do this to; throws `InvalidInput` if `id` is neither
 * a UUID nor a graph name. `value` is the proposed change, which authorization handlers may modify.
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

/** Maps a graph name to the id of its system assistant; anything else is taken as an id. */
export function assistantIdOf(id: string, { ids }: Pick<GraphRegistry, 'ids'>): string {
  return ids.includes(id) ? systemAssistantId(id) : id.toLowerCase();
}

export function requireGraph({ ids }: GraphRegistry, graph_id: string): void {
  if (!ids.includes(graph_id)) throw unknownGraph(graph_id, ids);
}
