import { LRUCache } from 'lru-cache';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { InvalidInput, NotFound } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { ANY_SCHEMAS, type ToolSchemas, toolSchemas } from './tool-schemas.ts';

/** An assistant as a tool. */
export interface AssistantTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: JsonObject;
  readonly schemas: ToolSchemas;
  readonly assistant: Assistant;
}

/** A graph may do anything: reach the world, and change it. */
const ANNOTATIONS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** Reading schemas from the types of a project takes seconds the first time; a list of tools cannot wait for ever. */
const SCHEMA_TIMEOUT_MS = 10_000;
/** Schemas kept in memory: deriving them takes milliseconds for each assistant. */
const MAX_SCHEMAS = 1000;

/** A schema that is late is there for who asks next. */
function orAnySchemas(schemas: Promise<ToolSchemas>): Promise<ToolSchemas> {
  return withDeadline(SCHEMA_TIMEOUT_MS, schemas).catch((error: unknown) => {
    if (error instanceof DeadlineExceeded) return ANY_SCHEMAS;
    throw error;
  });
}

/** The assistants that a caller may see, as tools. */
export function toolCatalog({
  assistants,
}: {
  assistants: Pick<AssistantService, 'listAll' | 'resolve' | 'schemas'>;
}) {
  const schemaCache = new LRUCache<string, Promise<ToolSchemas>>({ max: MAX_SCHEMAS });
  const names = new WeakMap<readonly Assistant[], Map<string, Assistant>>();

  /**
   * Of an assistant that the caller may run: a change makes a new version. The server asks for them itself, as rules
   * about metadata hide the assistants that everybody may run.
   */
  function schemasOf({ request_id }: Actor, { assistant_id, version }: Assistant): Promise<ToolSchemas> {
    const key = `${assistant_id}:${version}`;
    const cached = schemaCache.get(key);
    if (cached !== undefined) return cached;
    const schemas = assistants.schemas(systemActor(request_id), assistant_id).then(toolSchemas);
    schemaCache.set(key, schemas);
    schemas.catch(() => schemaCache.delete(key));
    return schemas;
  }

  function namesIn(list: readonly Assistant[]): Map<string, Assistant> {
    const toolsByName = names.get(list) ?? toolNames(list);
    names.set(list, toolsByName);
    return toolsByName;
  }

  /** Who is not in the caller's list may still be run by them: the assistants of the graphs. */
  async function byId(actor: Actor, id: string): Promise<Tool | undefined> {
    const assistant = await assistants.resolve(actor, id).catch((error: unknown) => {
      if (error instanceof NotFound || error instanceof InvalidInput) return undefined;
      throw error;
    });
    return assistant && [...toolNames([assistant])][0];
  }

  function toolOf(name: string, assistant: Assistant, schemas: ToolSchemas): AssistantTool {
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
    /**
     * In the order of their names, those after `after`, and one more than `limit` if there are. A graph that does not
     * load is no tool.
     */
    async list(actor: Actor, { after, limit }: { after: string; limit: number }): Promise<AssistantTool[]> {
      const sorted = [...namesIn(await assistants.listAll(actor))].sort(([a], [b]) => (a < b ? -1 : 1));
      const following = sorted.filter(([name]) => name > after).slice(0, limit + 1);
      const results = await Promise.allSettled(
        following.map(async ([name, assistant]) =>
          toolOf(name, assistant, await orAnySchemas(schemasOf(actor, assistant))),
        ),
      );
      return results.flatMap((tool) => (tool.status === 'fulfilled' ? [tool.value] : []));
    },

    /** By the name of the tool, the exact name of the assistant, or its id; undefined when there is none. */
    async find(actor: Actor, name: string): Promise<AssistantTool | undefined> {
      const tool =
        findByName(name, namesIn(await assistants.listAll(actor))) ??
        (await byId(actor, name)) ??
        findByName(name, namesIn(await assistants.listAll(actor, { isFresh: true })));
      // One whose graph does not load may be called, as a run of it may be made: the run tells why it fails.
      return tool && toolOf(...tool, await orAnySchemas(schemasOf(actor, tool[1])).catch(() => ANY_SCHEMAS));
    },
  };
}

type Tool = readonly [name: string, assistant: Assistant];

function findByName(name: string, tools: ReadonlyMap<string, Assistant>): Tool | undefined {
  const assistant = tools.get(name);
  if (assistant) return [name, assistant];
  return [...tools].find(([, { assistant_id, name: own }]) => [assistant_id, own].includes(name));
}

const MAX_LENGTH = 64;

/**
 * The tool name of each assistant, as the official server makes them (white space becomes `_`, everything but letters,
 * digits, `_`, `.` and `-` goes), and unique: of several with one name the oldest keeps it. Those that want to be no tool
 * have none.
 */
export function toolNames(assistants: readonly Assistant[]): Map<string, Assistant> {
  const exposed = assistants.filter(({ metadata }) => mcpMetadata(metadata)['expose'] !== false);
  const byAge = exposed.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const names = new Map<string, Assistant>();
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

function configuredName({ name, metadata }: Assistant): string {
  const own = mcpMetadata(metadata)['name'];
  return typeof own === 'string' ? own : name;
}

/** What an assistant says about itself as a tool: `metadata.mcp {expose, name, description, annotations}`. */
function mcpMetadata(metadata: Assistant['metadata']): Record<string, unknown> {
  return isObject(metadata['mcp']) ? metadata['mcp'] : {};
}
