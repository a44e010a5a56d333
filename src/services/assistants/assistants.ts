import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Conflict, NotFound } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { pickFields } from '../../core/pick-fields.ts';
import type { EventBus } from '../../events/bus.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type {
  Assistant,
  AssistantCreate,
  AssistantFilter,
  AssistantPatch,
  AssistantSearch,
} from '../../schemas/assistants.ts';
import type { AssistantChanges, AssistantRepository } from '../../storage/assistants/assistants.ts';
import { type Page, pageOf } from '../pagination.ts';
import { assistantCache } from './assistant-cache.ts';
import { assistantGraphs } from './assistant-graphs.ts';
import { assistantFinder, assistantLookup, type FindAssistant, requireGraph } from './assistant-lookup.ts';
import { assistantChanged, assistantVersions } from './assistant-versions.ts';
import { checkRunLimits, type RunLimits, syncConfigurable } from './run-config.ts';
import { type SystemDefaults, systemAssistants } from './system-assistants.ts';

export interface AssistantDeps extends RunLimits {
  readonly assistants: AssistantRepository;
  readonly graphs: GraphRegistry;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly runs: AssistantRunDeletion;
  readonly bus: EventBus;
  /** Defaults of system assistants by graph, until a client updates them. */
  readonly defaults?: SystemDefaults;
  /**
   * Project folder that source paths are relative to; absent in a deployment, whose sources are not edited
   * in place.
   */
  readonly root?: string | undefined;
}

/** Cascade of an assistant's deletion to its runs. */
export interface AssistantRunDeletion {
  /**
   * Authorizes the deletion and resolves to a function that cancels and deletes an assistant's runs. Their
   * threads and checkpoints remain unless `delete_threads` (contract §2.1).
   */
  authorizeDeletion(
    actor: Actor,
    options: { delete_threads: boolean },
  ): Promise<(assistant_id: string) => Promise<void>>;
}

export type AssistantService = ReturnType<typeof assistantService>;

/** Assistants: versioned configurations of a graph (contract §2.1). */
export function assistantService(deps: AssistantDeps) {
  const { assistants, graphs } = deps;
  const find = assistantFinder(assistants, graphs);
  return {
    ...assistantCrud(deps, find),
    ...assistantVersions(deps, find),
    ...assistantGraphs(graphs, find, deps.root),
    ...systemAssistants(deps),
    ...assistantLookup(assistants, graphs),

    listAll: assistantCache(assistants, deps.clock, deps.bus),
  };
}

function assistantCrud(deps: AssistantDeps, find: FindAssistant) {
  const { assistants, graphs, clock, ids, runs, bus } = deps;
  return {
    async create(actor: Actor, input: AssistantCreate): Promise<Assistant> {
      requireGraph(graphs, input.graph_id);
      checkRunLimits(deps, input.config);
      const value = {
        ...input,
        assistant_id: input.assistant_id ?? ids.uuid4(),
        metadata: input.metadata ?? {},
      };
      const visibility = await authorize(actor, 'assistants:create', value);
      const assistant = newAssistant(value, timestamp(clock.now()));
      const inserted = await assistants.insert(assistant);
      if (inserted) assistantChanged(bus, assistant.assistant_id);
      const stored = await assistants.get(assistant.assistant_id, inserted ? undefined : visibility);
      if (stored && (inserted || input.if_exists === 'do_nothing')) return stored;
      throw new Conflict(`Assistant ${assistant.assistant_id} already exists`);
    },

    async get(actor: Actor, id: string): Promise<Assistant> {
      const assistant = await find(actor, 'assistants:read', id);
      if (!assistant) throw new NotFound('Not Found');
      return assistant;
    },

    async search(actor: Actor, query: AssistantSearch): Promise<Page<Partial<Assistant>>> {
      const visibility = await authorize(actor, 'assistants:search', { ...query });
      if (query.graph_id !== undefined) requireGraph(graphs, query.graph_id);
      const rows = await assistants.search({ ...query, limit: query.limit + 1 }, visibility);
      const selected = rows.map((row) => pickFields(row, query.select));
      return pageOf(selected, query.limit, query.offset);
    },

    async count(actor: Actor, filter: AssistantFilter): Promise<number> {
      return assistants.count(filter, await authorize(actor, 'assistants:search', { ...filter }));
    },

    /** Replaces `config` and `context`, merges `metadata`, and makes the result the newest and current version. */
    async update(actor: Actor, id: string, patch: AssistantPatch): Promise<Assistant> {
      if (patch.graph_id !== undefined) requireGraph(graphs, patch.graph_id);
      checkRunLimits(deps, patch.config);
      const value = { ...patch };
      const stored = await find(actor, 'assistants:update', id, value);
      const changed =
        stored &&
        (await assistants.update(
          stored.assistant_id,
          (current) => changesOf(current, value),
          timestamp(clock.now()),
        ));
      if (!changed) throw new NotFound(`Assistant ${id} not found`);
      assistantChanged(bus, changed.assistant_id);
      return changed;
    },

    async delete(actor: Actor, id: string, options: { delete_threads: boolean }): Promise<void> {
      const stored = await find(actor, 'assistants:delete', id);
      const deleteRunsOf = await runs.authorizeDeletion(actor, options);
      // Delete the assistant first, so that no new run of it can start.
      const deleted = stored && (await assistants.delete(stored.assistant_id));
      if (!deleted) throw new NotFound(`Assistant with ID ${id} not found`);
      assistantChanged(bus, stored.assistant_id);
      await deleteRunsOf(stored.assistant_id);
    },
  };
}

function newAssistant(
  input: AssistantCreate & Pick<Assistant, 'assistant_id' | 'metadata'>,
  now: string,
): Assistant {
  return {
    assistant_id: input.assistant_id,
    graph_id: input.graph_id,
    ...syncConfigurable(input.config ?? {}, input.context ?? {}),
    metadata: input.metadata,
    name: input.name ?? 'Untitled',
    description: input.description ?? null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}

/** A new `context` alone preserves the rest of `config` (tags, recursion limit). */
function changesOf(stored: Assistant, patch: AssistantPatch): AssistantChanges {
  const { graph_id, name, description, metadata, config, context } = patch;
  const { configurable: _replaced, ...rest } = stored.config;
  const mirrored = config || context ? syncConfigurable(config ?? rest, context ?? {}) : {};
  return { graph_id, name, description, metadata, ...mirrored };
}
