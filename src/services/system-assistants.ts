import { type Clock, timestamp } from '../core/clock.ts';
import { systemAssistantId } from '../core/ids.ts';
import type { GraphRegistry } from '../graphs/graph.ts';
import type { Assistant } from '../schemas/assistants.ts';
import type { AssistantRepository } from '../storage/assistants.ts';

/** The assistants that the server makes itself: one for each graph of the configuration (CONTRACT §2.1). */
export function systemAssistants({
  assistants,
  graphs,
  clock,
}: {
  assistants: AssistantRepository;
  graphs: GraphRegistry;
  clock: Clock;
}) {
  return {
    /**
     * Brings the system assistants in line with the configuration: missing ones are made, names and descriptions
     * follow, those of removed graphs go. What clients changed otherwise stays.
     */
    async syncSystem(): Promise<void> {
      const now = timestamp(clock.now());
      const wanted = graphs.ids.map((graph_id) =>
        systemAssistant(graph_id, graphs.description(graph_id), now),
      );
      await assistants.upsertSystem(wanted);
      await assistants.deleteSystemExcept(wanted.map((assistant) => assistant.assistant_id));
    },
  };
}

function systemAssistant(graph_id: string, description: string | null, now: string): Assistant {
  return {
    assistant_id: systemAssistantId(graph_id),
    graph_id,
    config: {},
    context: {},
    metadata: { created_by: 'system' },
    name: graph_id,
    description,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
