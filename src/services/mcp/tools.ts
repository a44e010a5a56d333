import type { Actor } from '../../auth/actor.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { TookTooLong, within } from '../../graphs/deadline.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import { allAssistants } from '../all-assistants.ts';
import type { AssistantService } from '../assistants.ts';
import { mcpMetadata, toolNames } from './tool-names.ts';
import { ANYTHING, type ToolSchemas, toolSchemas } from './tool-schemas.ts';

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
const SCHEMAS_WITHIN_MS = 10_000;
/** Schemas kept in memory: deriving them takes milliseconds for each assistant. */
const MAX_SCHEMAS = 1000;

/** A schema that is late is there for who asks next. */
async function orAnything(schemas: Promise<ToolSchemas>): Promise<ToolSchemas> {
  try {
    return await within(SCHEMAS_WITHIN_MS, schemas);
  } catch (error) {
    if (error instanceof TookTooLong) return ANYTHING;
    throw error;
  }
}

export type ToolCatalog = ReturnType<typeof toolCatalog>;

/** The assistants that a caller may see, as tools. */
export function toolCatalog({ assistants }: { assistants: AssistantService }) {
  const known = new Map<string, Promise<ToolSchemas>>();

  /** Of an assistant as it is: a change makes a new version. */
  function schemasOf(actor: Actor, { assistant_id, version }: Assistant): Promise<ToolSchemas> {
    const key = `${assistant_id}:${version}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const schemas = assistants.schemas(actor, assistant_id).then(toolSchemas);
    if (known.size >= MAX_SCHEMAS) known.delete(known.keys().next().value as string);
    known.set(key, schemas);
    schemas.catch(() => known.delete(key));
    return schemas;
  }

  async function named(actor: Actor): Promise<Map<string, Assistant>> {
    const found = await allAssistants(assistants, actor);
    return toolNames(found.filter(({ metadata }) => mcpMetadata(metadata)['expose'] !== false));
  }

  async function toolOf(actor: Actor, name: string, assistant: Assistant): Promise<AssistantTool> {
    const own = mcpMetadata(assistant.metadata);
    const description = own['description'] ?? assistant.description;
    return {
      name,
      title: assistant.name,
      description: typeof description === 'string' ? description : `Runs the assistant ${assistant.name}.`,
      annotations: { ...ANNOTATIONS, ...(isObject(own['annotations']) ? own['annotations'] : {}) },
      schemas: await orAnything(schemasOf(actor, assistant)),
      assistant,
    };
  }

  return {
    /**
     * In the order of their names, those after `after`, and one more than `limit` if there are. A graph that does not
     * load is no tool.
     */
    async list(actor: Actor, { after, limit }: { after: string; limit: number }): Promise<AssistantTool[]> {
      const names = [...(await named(actor))].sort(([a], [b]) => (a < b ? -1 : 1));
      const following = names.filter(([name]) => name > after).slice(0, limit + 1);
      const made = await Promise.allSettled(
        following.map(([name, assistant]) => toolOf(actor, name, assistant)),
      );
      return made.flatMap((tool) => (tool.status === 'fulfilled' ? [tool.value] : []));
    },

    /** By the name of the tool, the exact name of the assistant, or its id; undefined when there is none. */
    async find(actor: Actor, name: string): Promise<AssistantTool | undefined> {
      const names = await named(actor);
      const entry = names.has(name)
        ? ([name, names.get(name) as Assistant] as const)
        : [...names].find(([, assistant]) => [assistant.assistant_id, assistant.name].includes(name));
      return entry && toolOf(actor, ...entry);
    },
  };
}
