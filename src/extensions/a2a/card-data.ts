import { LRUCache } from 'lru-cache';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { Assistant, GraphSchema } from '../../schemas/assistants.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { type InputFields, inputFields, propertiesOf } from '../../services/conversation/input-fields.ts';

/** Input and output of an assistant, as its agent card describes them. */
export interface CardData extends InputFields {
  readonly assistant: Assistant;
  /** Output fields other than `messages`. */
  readonly outputs: readonly string[];
  readonly schemas: Partial<GraphSchema>;
  /** Media types; `undefined` means all. */
  readonly input_modes: readonly string[] | undefined;
  readonly output_modes: readonly string[] | undefined;
}

/** Extracting schemas from a project's TypeScript types takes seconds the first time. */
const SCHEMA_TIMEOUT_MS = 10_000;
/** LRU capacity of the schema cache: deriving schemas takes milliseconds per assistant. */
const MAX_SCHEMAS = 1000;
/** State keys that address the protocol adapters; they are not output. */
const PROTOCOL_KEYS = ['messages', 'a2a', 'mcp'];

/** `within_ms`: deadline for reading the schemas. */
export type ReadCardData = (actor: Actor, id: string, within_ms?: number) => Promise<CardData>;

/** Resolves an assistant and the schemas of its graph. Throws what `resolve` throws. */
export function cardDataReader(assistants: AssistantService): ReadCardData {
  const cache = new LRUCache<string, Promise<GraphSchema>>({ max: MAX_SCHEMAS });

  /**
   * Cached by id and version: every change creates a version. Returns `{}` past the deadline. Reads as the system
   * actor, because metadata rules can hide assistants that the caller may run.
   */
  async function schemasOf(
    { request_id }: Actor,
    { assistant_id, version }: Assistant,
    within_ms: number,
  ): Promise<Partial<GraphSchema>> {
    const key = `${assistant_id}:${version}`;
    let schemas = cache.get(key);
    if (!schemas) {
      schemas = assistants.schemas(systemActor(request_id), assistant_id);
      cache.set(key, schemas);
      schemas.catch(() => cache.delete(key));
    }
    return withDeadline(within_ms, schemas).catch((error: unknown) => {
      if (error instanceof DeadlineExceeded) return {};
      throw error;
    });
  }

  return async (actor, id, within_ms = SCHEMA_TIMEOUT_MS) => {
    const assistant = await assistants.resolve(actor, id);
    const schemas = await schemasOf(actor, assistant, within_ms);
    const own = a2aMetadata(assistant.metadata);
    return {
      assistant,
      schemas,
      ...inputFields(schemas.input_schema),
      outputs: Object.keys(propertiesOf(schemas.output_schema)).filter(
        (name) => !PROTOCOL_KEYS.includes(name),
      ),
      input_modes: stringsIn(own['input_modes']),
      output_modes: stringsIn(own['output_modes']),
    };
  };
}

/** The assistant's own agent settings: `metadata.a2a {input_modes, output_modes, skills}`. */
export function a2aMetadata(metadata: JsonObject): JsonObject {
  return isObject(metadata['a2a']) ? metadata['a2a'] : {};
}

function stringsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}
