import { createHash } from 'node:crypto';
import { ProjectFailure } from '../../core/errors.ts';
import { isTemporary } from '../../core/failure-class.ts';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import { ROOT_PATH, textsAtPaths } from '../../storage/store/text-at-path.ts';
import { type Embedder, isVector } from './embedder.ts';

/** The configuration's `store.index`. */
export interface StoreIndexRules {
  /** Dimensions of a vector. */
  readonly dims: number;
  readonly embed: string;
  /** Indexed paths of items without their own; by default the whole value. */
  readonly fields?: readonly string[] | undefined;
}

/** An item to embed: its value, and the paths to index. */
export interface Embeddable {
  readonly value: Record<string, unknown>;
  readonly index?: false | readonly string[] | null | undefined;
}

export type StoreIndex = ReturnType<typeof storeIndex>;

/** Texts per call of an embedder: providers limit their number. */
const BATCH = 96;
/** Time-out of an embedder, ms: the client waits for it. */
const EMBED_TIMEOUT_MS = 60_000;

/**
 * Computes the vectors of items and queries. `name` identifies what they depend on: vectors of different names are not
 * comparable. `form`: how the database stores them.
 */
export function storeIndex({
  embedder,
  rules,
  form,
  logger,
}: {
  embedder: Embedder;
  rules: StoreIndexRules;
  form: string;
  logger: Logger;
}) {
  const { dims, embed, fields = [ROOT_PATH] } = rules;
  const name = createHash('sha256')
    .update(JSON.stringify([embed, dims, fields, form]))
    .digest('base64url');

  async function withTimeout<T>(what: Promise<T>): Promise<T> {
    try {
      return await withDeadline(EMBED_TIMEOUT_MS, what);
    } catch (error) {
      logger.error('store embeddings failed', { embed, error });
      // The host that computes them was lost: the server's own failure, not the project's.
      if (isTemporary(error)) throw error;
      throw failure('could not be computed; see the server log.');
    }
  }

  function failure(what: string): ProjectFailure {
    return new ProjectFailure(`The embeddings of the store (${embed}) ${what}`);
  }

  function unitVector(numbers: unknown): Float32Array {
    const vector = Float32Array.from(isVector(numbers) ? numbers : []);
    if (vector.length !== dims) {
      throw failure(`have ${vector.length} numbers, but "store.index.dims" is ${dims}.`);
    }
    const length = Math.hypot(...vector);
    return length > 0 ? vector.map((number) => number / length) : vector;
  }

  return {
    name,

    /** The vectors of each item, none if it has no text. Throws `ProjectFailure` if the embedder fails. */
    async embedItems(items: readonly Embeddable[]): Promise<Float32Array[][]> {
      const texts = items.map(({ value, index }) =>
        index === false ? [] : textsAtPaths(value, index ?? fields),
      );
      const known = new Map<string, Float32Array>();
      const all = [...new Set(texts.flat())];
      for (let start = 0; start < all.length; start += BATCH) {
        const batch = all.slice(start, start + BATCH);
        const vectors = await withTimeout(embedder.documents(batch));
        if (!Array.isArray(vectors) || vectors.length !== batch.length) {
          throw failure(`did not return one vector for each of ${batch.length} texts.`);
        }
        for (const [place, text] of batch.entries()) known.set(text, unitVector(vectors[place]));
      }
      return texts.map((own) => own.map((text) => known.get(text) as Float32Array));
    },

    /** Throws `ProjectFailure` if the embedder fails. */
    async embedQuery(query: string): Promise<Float32Array> {
      return unitVector(await withTimeout(embedder.query(query)));
    },
  };
}
