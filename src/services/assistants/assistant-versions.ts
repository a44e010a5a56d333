import type { Actor } from '../../auth/actor.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Assistant, AssistantVersion, AssistantVersionsSearch } from '../../schemas/assistants.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';
import type { FindAssistant } from './assistant-lookup.ts';

export interface AssistantVersionsDeps {
  readonly assistants: AssistantRepository;
  readonly clock: Clock;
  readonly bus: EventBus;
}

/** Bus topic: an assistant was created, updated or deleted. */
export const ASSISTANTS_CHANGED = 'assistants';

/** Publishes that an assistant was created, changed or deleted. */
export function assistantChanged(bus: EventBus, assistant_id: string): void {
  bus.updated(ASSISTANTS_CHANGED);
  bus.emit('row.changed', 'assistant', assistant_id);
}

/** Version history of an assistant, and switching to an earlier version (contract §2.1). */
export function assistantVersions({ assistants, clock, bus }: AssistantVersionsDeps, find: FindAssistant) {
  return {
    /** Newest first. An empty page is a 404, past the end too (contract §2.1). */
    async versions(actor: Actor, id: string, query: AssistantVersionsSearch): Promise<AssistantVersion[]> {
      const stored = await find(actor, 'assistants:read', id);
      const versions = stored ? await assistants.versions(stored.assistant_id, query) : [];
      if (versions.length === 0) throw new NotFound(`Assistant ${id} not found`);
      return versions;
    },

    /** Makes an earlier version current; restores every field, including `version`. */
    async setLatest(actor: Actor, id: string, version: number): Promise<Assistant> {
      const stored = await find(actor, 'assistants:update', id, { version });
      if (!stored) throw new NotFound(`Assistant ${id} not found`);
      const current = await assistants.setLatest(stored.assistant_id, version, timestamp(clock.now()));
      if (!current) throw new NotFound(`Version ${version} not found for assistant ${id}`);
      assistantChanged(bus, current.assistant_id);
      return current;
    },
  };
}
