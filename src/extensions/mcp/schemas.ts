import { z } from 'zod';
import { LongPath, MAX_NAMES, Name, smallRecord } from '../../schemas/bounds.ts';
import { SmallObject } from '../../schemas/fields.ts';
import { nameRequests, nameResponses } from '../../schemas/named.ts';

/** A Model Context Protocol message, for the documentation only: the MCP library parses it. */
export const McpMessage = z.looseObject({
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: z.union([Name, z.number()]).optional().describe('The id of a request; a notification has none.'),
  method: Name.optional().describe('Such as `tools/list` or `tools/call`.'),
  params: z.record(z.string(), z.unknown()).optional().describe('The parameters of the method.'),
});

const MAX_BATCH = 100;

const text = Name.optional();

/** Maxima of a message. The MCP library checks its types, and the schema of a tool its arguments. */
export const McpBounds = z.looseObject({
  id: z.union([Name, z.number()]).optional(),
  method: text,
  params: z
    .looseObject({
      name: text,
      uri: LongPath.optional(),
      cursor: LongPath.optional(),
      level: text,
      protocolVersion: text,
      requestId: z.union([Name, z.number()]).optional(),
      inputResponses: smallRecord(Name, z.unknown(), MAX_NAMES).optional(),
      _meta: SmallObject.optional(),
    })
    .optional(),
});

/** Of a batch, which the revision 2025-03-26 has. */
export const McpBatchBounds = z.array(McpBounds).max(MAX_BATCH);

/** Where clients obtain tokens for this server (RFC 9728). */
export const ProtectedResource = z.object({
  resource: z.string().describe('The resource that a token must be issued for.'),
  authorization_servers: z.array(z.string()).describe('The servers that issue tokens.'),
  bearer_methods_supported: z.array(z.string()).describe('How a token is sent.'),
  resource_name: z.string().describe('Human-readable name of the resource.'),
});
export type ProtectedResource = z.infer<typeof ProtectedResource>;

/** The response to a message; server-sent events if there is more than one. */
export const McpAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

nameRequests({ McpMessage });
nameResponses({ McpAnswer });
