import { z } from 'zod';
import { isVector, type Vector } from '../../graphs/store/embedder.ts';
import { WireErrorSchema } from './errors.ts';
import { Bytes, Json, JsonResult, Session } from './wire-types.ts';

/** What a host loads of the project beside its graphs; members of `initialize`. An export is given as `path:export`. */
export const PROJECT_PARAMS = {
  /** Auth handlers. */
  auth: z.string().optional(),
  /** Embedder of the store. */
  embedder: z.object({ embed: z.string(), dims: z.number().int() }).optional(),
  /** Function that registers MCP tools. */
  mcp: z.string().optional(),
};

/** Why a part of the project could not be loaded, by its name in `PROJECT_PARAMS`. */
export const ProjectErrors = z.object({
  auth: WireErrorSchema.optional(),
  embedder: WireErrorSchema.optional(),
  mcp: WireErrorSchema.optional(),
});

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
  'ui/bundle': {
    params: z.object({ name: z.string(), path: z.string(), shared: z.array(z.string()) }),
    result: z.object({
      name: z.string(),
      global: z.string(),
      assets: z.array(z.object({ file: z.string(), type: z.string(), content: Bytes, etag: z.string() })),
      inputs: z.array(z.object({ file: z.string(), bytes: z.number() })),
    }),
  },
  /** Makes the MCP server of one request, and has the project register on it. */
  'mcp/open': {
    params: z.object({
      session: Session,
      method: z.string(),
      url: z.string(),
      headers: z.array(z.tuple([z.string(), z.string()])),
      body: z.string(),
      user: Json,
      /** Absent for clients of revisions before 2026-07-28, which negotiate it. */
      revision: z.string().optional(),
      /** The tool that the request calls. */
      tool_name: z.string().optional(),
    }),
    result: z.object({
      /** JSON-RPC methods that the project handles; `is_spec`: methods of MCP. */
      methods: z.array(z.object({ method: z.string(), is_spec: z.boolean() })),
      capabilities: Json,
      /** JSON Schema of the called tool's arguments. */
      input_schema: Json.optional(),
    }),
  },
  /** A JSON-RPC request, answered by a JSON-RPC response. Fails with what the project's handler threw. */
  'mcp/request': {
    params: z.object({ session: Session, message: Json, auth_info: Json.optional() }),
    result: JsonResult,
  },
  /** OAuth scopes that the project requires for a JSON-RPC request; null for none. */
  'mcp/scope_challenge': {
    params: z.object({ session: Session, message: Json, auth_info: Json.optional() }),
    result: JsonResult,
  },
  'mcp/close': { params: z.object({ session: Session }) },
} as const;

/** Methods of the server, called by the project's code in a host. */
export const PROJECT_SERVER_METHODS = {
  /** A JSON-RPC notification to the client, while the request `request_id` is handled. */
  'mcp/notify': {
    params: z.object({
      session: Session,
      request_id: z.union([z.string(), z.number()]),
      notification: Json,
    }),
  },
} as const;

/** What an embedder returned for a text; null if it is no list of finite numbers. */
export function toWireVector(vector: unknown): Uint8Array | null {
  return isVector(vector) ? new Uint8Array(Float32Array.from(vector).buffer) : null;
}

/** Without numbers for what was none: the index then says what is wrong. */
export function fromWireVector(bytes: Uint8Array | null): Vector {
  // A copy: floats begin at a multiple of their size.
  return bytes ? new Float32Array(new Uint8Array(bytes).buffer) : [];
}
