import { LRUCache } from 'lru-cache';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { InvalidInput, NotFound } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import type { AssistantSummary } from '../../storage/assistants/summaries.ts';
import { ANY_SCHEMAS, type ToolSchemas, toolSchemas } from './tool-schemas.ts';

/** An assistant as a tool. */
export interface AssistantTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: JsonObject;
  readonly schemas: ToolSchemas;
  readonly assistant: AssistantSummary;
}

export interface ToolPage {
  readonly tools: readonly AssistantTool[];
  /** Name of its last tool if more follow, whether or not that tool's graph loads. */
  readonly last?: string | undefined;
}

/** A graph may have arbitrary side effects, also outside this server. */
const ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** Extracting schemas from TypeScript types takes seconds the first time; bounds how long a tool list waits. */
const SCHEMA_TIMEOUT_MS = 10_000;
/** LRU capacity of the schema cache: deriving schemas takes milliseconds per assistant. */
const MAX_SCHEMAS = 1000;

/** Past the deadline returns `ANY_SCHEMAS`; the promise stays cached for the next request. */
function orAnySchemas(schemas: Promise<ToolSchemas>): Promise<ToolSchemas> {
  return withDeadline(SCHEMA_TIMEOUT_MS, schemas).catch((error: unknown) => {
    if (error instanceof DeadlineExceeded) return ANY_SCHEMAS;
    throw error;
  });
}

/** Tools of the assistants visible to a caller. */
export function toolCatalog({ assistants, graphs }: { assistants: AssistantService; graphs: GraphRegistry }) {
  const schemaCache = new LRUCache<string, Promise<ToolSchemas>>({ max: MAX_SCHEMAS });
  const names = new WeakMap<readonly AssistantSummary[], Map<string, AssistantSummary>>();

  /**
   * Cached by id and version, because every change creates a version, and by how often the graphs were loaded.
   * Reads as the system actor, because metadata rules can hide assistants that the caller may run.
   */
  function schemasOf(
    { request_id }: Actor,
    { assistant_id, version }: AssistantSummary,
  ): Promise<ToolSchemas> {
    const key = `${assistant_id}:${version}:${graphs.loads()}`;
    const cached = schemaCache.get(key);
    if (cached !== undefined) return cached;
    const schemas = assistants.schemas(systemActor(request_id), assistant_id).then(toolSchemas);
    schemaCache.set(key, schemas);
    schemas.catch(() => schemaCache.delete(key));
    return schemas;
  }

  function namesIn(list: readonly AssistantSummary[]): Map<string, AssistantSummary> {
    const toolsByName = names.get(list) ?? toolNames(list);
    names.set(list, toolsByName);
    return toolsByName;
  }

  /** Callers may run system assistants even if their list does not include them. */
  async function byId(actor: Actor, id: string): Promise<Tool | undefined> {
    const assistant = await assistants.resolve(actor, id).catch((error: unknown) => {
      if (error instanceof NotFound || error instanceof InvalidInput) return undefined;
      throw error;
    });
    return assistant && [...toolNames([assistant])][0];
  }

  function toolOf(name: string, assistant: AssistantSummary, schemas: ToolSchemas): AssistantTool {
    const own = mcpMetadata(assistant.metadata);
    const description = own['description'] ?? assistant.description;
    return {
      name,
      title: assistant.name,
      description: typeof description === 'string' ? description : `Runs the assistant ${assistant.name}.`,
      annotations: { ...ANNOTATIONS, ...(isObject(own['annotations']) ? own['annotations'] : {}) },
      schemas,
      assistant,
    };
  }

  return {
    /** Keyset pagination by name: up to `limit` tools after `after`. Omits tools whose graph does not load. */
    async list(actor: Actor, { after, limit }: { after: string; limit: number }): Promise<ToolPage> {
      const sorted = [...namesIn(await assistants.listAll(actor))].sort(([a], [b]) => (a < b ? -1 : 1));
      const following = sorted.filter(([name]) => name > after);
      const page = following.slice(0, limit);
      const results = await Promise.allSettled(
        page.map(async ([name, assistant]) =>
          toolOf(name, assistant, await orAnySchemas(schemasOf(actor, assistant))),
        ),
      );
      const tools = results.flatMap((tool) => (tool.status === 'fulfilled' ? [tool.value] : []));
      return { tools, last: following.length > limit ? page.at(-1)?.[0] : undefined };
    },

    /** Finds a tool by its name, the assistant's exact name or id; `undefined` if there is none. */
    async find(actor: Actor, name: string): Promise<AssistantTool | undefined> {
      const tool =
        findByName(name, namesIn(await assistants.listAll(actor))) ??
        (await byId(actor, name)) ??
        findByName(name, namesIn(await assistants.listAll(actor, { isFresh: true })));
      // A tool whose graph does not load can still be called: the run reports why it fails.
      return tool && toolOf(...tool, await orAnySchemas(schemasOf(actor, tool[1])).catch(() => ANY_SCHEMAS));
    },
  };
}

type Tool = readonly [name: string, assistant: AssistantSummary];

function findByName(name: string, tools: ReadonlyMap<string, AssistantSummary>): Tool | undefined {
  const assistant = tools.get(name);
  if (assistant) return [name, assistant];
  return [...tools].find(([, { assistant_id, name: own }]) => [assistant_id, own].includes(name));
}

const MAX_LENGTH = 64;

/**
 * Unique tool names, formed like the official server's (white space becomes `_`; everything but letters, digits, `_`,
 * `.` and `-` is dropped). The oldest assistant keeps a contested name. Excludes assistants with `metadata.mcp.expose:
 * false`.
 */
export function toolNames(assistants: readonly AssistantSummary[]): Map<string, AssistantSummary> {
  const exposed = assistants.filter(({ metadata }) => mcpMetadata(metadata)['expose'] !== false);
  const byAge = exposed.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const names = new Map<string, AssistantSummary>();
  for (const assistant of byAge) {
    const id = assistant.assistant_id.slice(0, 8);
    const name = sanitized(configuredName(assistant)) || `assistant-${id}`;
    names.set(names.has(name) ? `${name.slice(0, MAX_LENGTH - 9)}-${id}` : name, assistant);
  }
  return names;
}

function sanitized(name: string): string {
  return name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_.-]/g, '')
    .slice(0, MAX_LENGTH);
}

function configuredName({ name, metadata }: AssistantSummary): string {
  const own = mcpMetadata(metadata)['name'];
  return typeof own === 'string' ? own : name;
}

/** The assistant's own tool settings: `metadata.mcp {expose, name, description, annotations}`. */
function mcpMetadata(metadata: AssistantSummary['metadata']): Record<string, unknown> {
  return isObject(metadata['mcp']) ? metadata['mcp'] : {};
}
