import { z } from 'zod';

/** A message of the Model Context Protocol, for the documentation: the protocol's library reads it. */
export const McpMessage = z.looseObject({
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: z.union([z.string(), z.number()]).optional().describe('The id of a request; a notification has none.'),
  method: z.string().optional().describe('Such as `tools/list` or `tools/call`.'),
  params: z.record(z.string(), z.unknown()).optional().describe('The parameters of the method.'),
});

/** Where a client gets a token for this server (RFC 9728). */
export const ProtectedResource = z.object({
  resource: z.string().describe('What the token must be for.'),
  authorization_servers: z.array(z.string()).describe('Who issues it.'),
  bearer_methods_supported: z.array(z.string()).describe('Where it goes.'),
  resource_name: z.string().describe('Who asks for it, in words.'),
});
export type ProtectedResource = z.infer<typeof ProtectedResource>;

/** What a message is answered with; as server-sent events where more comes than one answer. */
export const McpAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});
