import { type Actor, systemActor } from '../../auth/actor.ts';
import { InvalidInput, NotFound } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { TookTooLong, within } from '../../graphs/deadline.ts';
import type { Assistant } from '../../schemas/assistants.ts';
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
function orAnything(schemas: Promise<ToolSchemas>): Promise<ToolSchemas> {
  return within(SCHEMAS_WITHIN_MS, schemas).catch((error: unknown) => {
    if (error instanceof TookTooLong) return ANYTHING;
    throw error;
  });
}

export type ToolCatalog = ReturnType<typeof toolCatalog>;

/** The assistants that a caller may see, as tools. */
export function toolCatalog({
  assistants,
}: {
  assistants: Pick<AssistantService, 'all' | 'resolve' | 'schemas'>;
}) {
  const known = new Map<string, Promise<ToolSchemas>>();
  const names = new WeakMap<readonly Assistant[], Map<string, Assistant>>();

  /**
   * Of an assistant that the caller may run: a change makes a new version. The server asks for them itself, as rules
   * about metadata hide the assistants that everybody may run.
   */
  function schemasOf({ request_id }: Actor, { assistant_id, version }: Assistant): Promise<ToolSchemas> {
    const key = `${assistant_id}:${version}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const schemas = assistants.schemas(systemActor(request_id), assistant_id).then(toolSchemas);
    if (known.size >= MAX_SCHEMAS) known.delete(known.keys().next().value as string);
    known.set(key, schemas);
    schemas.catch(() => known.delete(key));
    return schemas;
  }

  function namesIn(list: readonly Assistant[]): Map<string, Assistant> {
    const made = names.get(list) ?? toolNames(list);
    names.set(list, made);
    return made;
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
      const sorted = [...namesIn(await assistants.all(actor))].sort(([a], [b]) => (a < b ? -1 : 1));
      const following = sorted.filter(([name]) => name > after).slice(0, limit + 1);
      const made = await Promise.allSettled(
        following.map(async ([name, assistant]) =>
          toolOf(name, assistant, await orAnything(schemasOf(actor, assistant))),
        ),
      );
      return made.flatMap((tool) => (tool.status === 'fulfilled' ? [tool.value] : []));
    },

    /** By the name of the tool, the exact name of the assistant, or its id; undefined when there is none. */
    async find(actor: Actor, name: string): Promise<AssistantTool | undefined> {
      const tool =
        called(name, namesIn(await assistants.all(actor))) ??
        (await byId(actor, name)) ??
        called(name, namesIn(await assistants.all(actor, { isFresh: true })));
      // One whose graph does not load may be called, as a run of it may be made: the run tells why it fails.
      return tool && toolOf(...tool, await orAnything(schemasOf(actor, tool[1])).catch(() => ANYTHING));
    },
  };
}

type Tool = readonly [name: string, assistant: Assistant];

function called(name: string, tools: ReadonlyMap<string, Assistant>): Tool | undefined {
  const assistant = tools.get(name);
  if (assistant) return [name, assistant];
  return [...tools].find(([, { assistant_id, name: own }]) => [assistant_id, own].includes(name));
}
