import { z } from 'zod';
import { JsonObject } from './fields.ts';

/** A message of A2A over JSON-RPC, for the documentation: the protocol's library reads it. */
export const A2aMessage = z.looseObject({
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: z.union([z.string(), z.number()]).optional().describe('Returned in the response.'),
  method: z.string().describe('Such as `SendMessage` (1.0) or `message/send` (0.3).'),
  params: JsonObject.optional().describe('The parameters of the method.'),
});

/** What a message is answered with; as server-sent events where the method streams. */
export const A2aAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).nullish(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

/** In the form of the version that was asked for. */
export const A2aCard = z.looseObject({
  name: z.string(),
  description: z.string(),
  version: z.string(),
  skills: z.array(JsonObject),
});

export const A2aCardQuery = z.looseObject({
  assistant_id: z
    .string()
    .optional()
    .describe(
      'An assistant or a graph. Required if there are several, unless the configuration sets a default.',
    ),
});
/** Where clients get what they verify cards with. */
export const JWKS_PATH = '/.well-known/jwks.json';
