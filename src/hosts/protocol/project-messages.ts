import { z } from 'zod';
import { isVector, type Vector } from '../../graphs/store/embedder.ts';
import { WireErrorSchema } from './errors.ts';
import { Bytes, Json, JsonResult } from './wire-types.ts';

/** What a host loads of the project besides its graphs; members of `initialize`. An export is given as `path:export`. */
export const PROJECT_PARAMS = {
  /** Auth handlers. */
  auth: z.string().optional(),
  /** Embedder of the store. */
  embedder: z.object({ embed: z.string(), dims: z.number().int() }).optional(),
  /** What the parts of extensions are given, by the name of the extension. */
  extensions: z.record(z.string(), z.unknown()).optional(),
};

/** Why a part of the project could not be loaded: `auth`, `embedder`, or that of an extension, by its name. */
export const ProjectErrors = z.record(z.string(), WireErrorSchema);

/** 32-bit floats, little-endian; null stands for an answer that is no list of finite numbers. */
const WireVector = Bytes.nullable();

/** Methods of a host: calls of the project's code other than its graphs. */
export const PROJECT_METHODS = {
  'auth/authenticate': {
    params: z.object({
      method: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    }),
    /** The user. */
    result: JsonResult,
  },
  'auth/authorize': {
    params: z.object({ event: z.string(), value: Json, user: Json }),
    result: z.object({
      /** A text is the filter of the rows for which it is allowed. */
      allowed: z.union([z.boolean(), Json]),
      /** Only if the handler modified it. */
      value: Json.optional(),
    }),
  },
  'embed/documents': {
    params: z.object({ texts: z.array(z.string()) }),
    /** null if the embedder returned no list. */
    result: z.object({ vectors: z.array(WireVector).nullable() }),
  },
  'embed/query': { params: z.object({ text: z.string() }), result: z.object({ vector: WireVector }) },
} as const;

/** What an embedder returned for a text; null if it is no list of finite numbers. */
export function toWireVector(vector: unknown): Uint8Array | null {
  return isVector(vector) ? new Uint8Array(Float32Array.from(vector).buffer) : null;
}

/** Without numbers for what was none: the index then reports what is wrong. */
export function fromWireVector(bytes: Uint8Array | null): Vector {
  // A copy: floats begin at a multiple of their size.
  return bytes ? new Float32Array(new Uint8Array(bytes).buffer) : [];
}
