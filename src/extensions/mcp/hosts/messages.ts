import { z } from 'zod';
import { Json, JsonResult, Session } from '../../../hosts/protocol/wire-types.ts';

/** Methods of a host: what the project has registered with MCP servers. A session is one request of a client. */
export const HOST_METHODS = {
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

/** Methods of the server. */
export const SERVER_METHODS = {
  /** A JSON-RPC notification to the client, while the request `request_id` is handled. */
  'mcp/notify': {
    params: z.object({
      session: Session,
      request_id: z.union([z.string(), z.number()]),
      notification: Json,
    }),
  },
} as const;

export type HostMethods = typeof HOST_METHODS;
export type ServerMethods = typeof SERVER_METHODS;
