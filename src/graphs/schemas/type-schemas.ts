import type { Logger } from '../../core/logger.ts';
import type { TypeSchemasByNamespace } from './extract.ts';
import { type Extracted, extractInChild, type GraphSource } from './extraction.ts';
import { schemaCache } from './schema-cache.ts';

export interface TypeSchemaOptions {
  /** Where the project's compiler is resolved. */
  readonly root: string;
  /** Cache folder. */
  readonly cache: string;
  readonly logger: Logger;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
  readonly limit_ms?: number;
}

/** Schemas from a graph's TypeScript types; `undefined` if none could be read. Never rejects. */
export type FindTypeSchemas = (graph_id: string) => Promise<TypeSchemasByNamespace | undefined>;

type PendingSchemas = ReadonlyMap<string, PromiseWithResolvers<TypeSchemasByNamespace | undefined>>;

const EXTRACTION_TIMEOUT_MS = 60_000;

/**
 * Reads the schemas of all graphs in one batch on the first request: most of the time is spent on the types of
 * LangChain, which they share.
 */
export function typeSchemas(
  graphs: readonly GraphSource[],
  { root, cache, logger, signal, limit_ms = EXTRACTION_TIMEOUT_MS }: TypeSchemaOptions,
): FindTypeSchemas {
  const cached = schemaCache(cache);
  let pending: PendingSchemas | undefined;

  async function find(requested: string, all: PendingSchemas): Promise<void> {
    const stale: GraphSource[] = [];
    for (const source of graphs) {
      const schemas = await cached.read(source);
      if (schemas) all.get(source.graph_id)?.resolve(schemas);
      else stale.push(source);
    }
    if (stale.length === 0) return;
    const failures: Record<string, string> = {};
    const writes: Promise<void>[] = [];
    const first = stale.toSorted(
      (a, b) => Number(b.graph_id === requested) - Number(a.graph_id === requested),
    );
    try {
      await extractInChild({ folder: root, graphs: first }, { limit_ms, signal }, (message) => {
        if ('error' in message) failures[message.graph_id] = message.error;
        else writes.push(writeCache(message).then(() => all.get(message.graph_id)?.resolve(message.schemas)));
      });
    } finally {
      await Promise.all(writes);
    }
    if (Object.keys(failures).length > 0) logger.warn(WARNING, { graphs: failures });
  }

  async function writeCache(extracted: Extracted): Promise<void> {
    const source = graphs.find(({ graph_id }) => graph_id === extracted.graph_id);
    if (!source) return;
    await cached.write(source, extracted).catch((error: unknown) => {
      logger.debug('cannot cache the schemas of types; the next start reads them again', { error });
    });
  }

  function start(requested: string): PendingSchemas {
    const all: PendingSchemas = new Map(graphs.map(({ graph_id }) => [graph_id, Promise.withResolvers()]));
    find(requested, all)
      .catch((error: unknown) => {
        if (!signal.aborted) logger.warn(WARNING, { reason: error instanceof Error ? error.message : error });
      })
      .finally(() => {
        for (const answer of all.values()) answer.resolve(undefined);
      });
    return all;
  }

  return async (graph_id) => {
    pending ??= start(graph_id);
    return pending.get(graph_id)?.promise;
  };
}

const WARNING =
  'cannot read schemas from the TypeScript types; the schemas have field names only. Declare the state with zod for exact schemas';
