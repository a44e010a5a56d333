import type { AccessEvent, Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { InvalidInput, NotFound } from '../../core/errors.ts';
import { isUuid, systemAssistantId } from '../../core/ids.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import { unknownGraph } from '../../graphs/project/configured-graphs.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';

/**
 * Returns `undefined` if the assistant is missing or hidden from the actor; throws `InvalidInput` if `id` is
 * neither a UUID nor a graph name. `value` is the proposed change, which authorization handlers may modify.
 */
export type FindAssistant = (
  actor: Actor,
  event: AccessEvent & `assistants:${string}`,
  id: string,
  value?: Record<string, unknown>,
) => Promise<Assistant | undefined>;

/** Finds an assistant by its id, or the system assistant of a graph by the graph's name (contract §2.1). */
export function assistantFinder(assistants: AssistantRepository, graphs: GraphRegistry): FindAssistant {
  return async (actor, event, id, value = {}) => {
    const assistant_id = requireAssistantId(id, graphs);
    value['assistant_id'] = assistant_id;
    return assistants.get(assistant_id, await authorize(actor, event, value));
  };
}

/** Resolves the assistants of runs. */
export function assistantLookup(assistants: AssistantRepository, graphs: GraphRegistry) {
  return {
    idOf: (id: string): string => assistantIdOf(id, graphs),

    /** The same for a filter. Throws `InvalidInput` if `id` is neither a graph name nor a UUID. */
    requireId: (id: string): string => requireAssistantId(id, graphs),

    /**
     * Resolves a run's assistant by graph name or id. Throws the errors of run creation (contract §1). Metadata rules
     * do not hide system assistants: the operator offers them to every caller who may run any.
     */
    async resolve(actor: Actor, id: string): Promise<Assistant> {
      if (!graphs.ids.includes(id) && !isUuid(id))
        throw new InvalidInput(invalidAssistantMessage(graphs, id));
      const assistant_id = assistantIdOf(id, graphs);
      const visibility = await authorize(actor, 'assistants:read', { assistant_id });
      const isSystem = graphs.ids.some((graph_id) => systemAssistantId(graph_id) === assistant_id);
      const assistant = await assistants.get(
        assistant_id,
        isSystem ? visibility && { ids: visibility.ids } : visibility,
      );
      if (!assistant) throw new NotFound('Thread or assistant not found.');
      return assistant;
    },
  };
}

/** Maps a graph name to the id of its system assistant; anything else is taken as an id. */
function assistantIdOf(id: string, { ids }: GraphRegistry): string {
  return ids.includes(id) ? systemAssistantId(id) : id.toLowerCase();
}

function requireAssistantId(id: string, graphs: GraphRegistry): string {
  const assistant_id = assistantIdOf(id, graphs);
  if (!isUuid(assistant_id)) throw new InvalidInput('Invalid assistant ID: must be a UUID');
  return assistant_id;
}

export function requireGraph({ ids }: GraphRegistry, graph_id: string): void {
  if (!ids.includes(graph_id)) throw unknownGraph(graph_id, ids);
}

/** Messages of the official Python and JavaScript servers combined, which clients recognize (contract §1). */
function invalidAssistantMessage(graphs: GraphRegistry, id: string): string {
  return `Invalid assistant: '${id}'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: ${graphs.ids.join(', ')}\nNo assistant found for '${id}'.`;
}
