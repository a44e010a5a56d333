import { type Clock, timestamp } from '../../core/clock.ts';
import { systemAssistantId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type { Assistant, Config } from '../../schemas/assistants.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';
import { syncConfigurable } from './run-config.ts';

/** Configuration and context of system assistants, by graph. */
export type SystemDefaults = Readonly<Record<string, Config & { context?: JsonObject | undefined }>>;

/** System assistants: one for each configured graph (contract §2.1). */
export function systemAssistants({
  assistants,
  graphs,
  clock,
  defaults = {},
}: {
  assistants: AssistantRepository;
  graphs: GraphRegistry;
  clock: Clock;
  defaults?: SystemDefaults;
}) {
  return {
    /**
     * Upserts one system assistant per graph: names and descriptions follow the configuration, and so do the defaults
     * until a client creates a version. Deletes those of removed graphs.
     */
    async syncSystem(): Promise<void> {
      const now = timestamp(clock.now());
      const wanted = graphs.ids.map((graph_id) => {
        const { context = {}, ...config } = defaults[graph_id] ?? {};
        const description = graphs.description(graph_id);
        return { ...systemAssistant(graph_id, description, now), ...syncConfigurable(config, context) };
      });
      await assistants.upsertSystemAssistants(wanted);
      await assistants.deleteSystemAssistantsExcept(wanted.map((assistant) => assistant.assistant_id));
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
