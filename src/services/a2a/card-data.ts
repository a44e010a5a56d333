import { LRUCache } from 'lru-cache';
import { type Actor, systemActor } from '../../auth/actor.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { DeadlineExceeded, withDeadline } from '../../core/timers.ts';
import type { Assistant, GraphSchema } from '../../schemas/assistants.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { type InputFields, inputFields, propertiesOf } from '../chat/input-fields.ts';

/** What an assistant takes and gives. */
export interface CardData extends InputFields {
  readonly assistant: Assistant;
  /** Names of its output beside messages. */
  readonly outputs: readonly string[];
  readonly schemas: Partial<GraphSchema>;
  /** Media types; undefined for all. */
  readonly input_modes: readonly string[] | undefined;
  readonly output_modes: readonly string[] | undefined;
}

/** Reading schemas from the types of a project takes seconds the first time. */
const SCHEMA_TIMEOUT_MS = 10_000;
/** Schemas kept in memory: deriving them takes milliseconds for each assistant. */
const MAX_SCHEMAS = 1000;
/** What graphs tell the protocols' doors is no output. */
const PROTOCOL_KEYS = ['messages', 'a2a', 'mcp'];

/** `within_ms`: how long its schemas are waited for. */
export type ReadCardData = (actor: Actor, id: string, within_ms?: number) => Promise<CardData>;

/** Finds an assistant and what its graph takes. Throws what `resolve` throws. */
export function cardDataReader({
  assistants,
}: {
  assistants: Pick<AssistantService, 'resolve' | 'schemas'>;
}): ReadCardData {
  const cache = new LRUCache<string, Promise<GraphSchema>>({ max: MAX_SCHEMAS });

  /**
   * Of an assistant that the caller may run: a change makes a new version. Schemas that are late say nothing. The server
   * asks for them itself, as rules about metadata hide the assistants that everybody may run.
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

/** What an assistant says about itself as an agent: `metadata.a2a {input_modes, output_modes, skills}`. */
export function a2aMetadata(metadata: JsonObject): JsonObject {
  return isObject(metadata['a2a']) ? metadata['a2a'] : {};
}

function stringsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}
