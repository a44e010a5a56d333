import { z } from 'zod';
import { Name } from './bounds.ts';
import { JsonObject } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';

/** An A2A JSON-RPC message, for the documentation only: the A2A library parses it. */
export const A2aMessage = z.looseObject({
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: z.union([Name, z.number()]).optional().describe('Returned in the response.'),
  method: Name.describe('Such as `SendMessage` (1.0) or `message/send` (0.3).'),
  params: JsonObject.optional().describe('The parameters of the method.'),
});

/** The response to a message; server-sent events if the method streams. */
export const A2aAnswer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).nullish(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
});

/** In the requested protocol version. */
export const A2aCard = z.looseObject({
  name: z.string(),
  description: z.string(),
  version: z.string(),
  skills: z.array(JsonObject),
});

export const A2aCardQuery = z.looseObject({
  assistant_id: Name.optional().describe(
    'An assistant or a graph. Required if there are several, unless the configuration sets a default.',
  ),
});
/** Public keys with which clients verify agent cards. */
export const JWKS_PATH = '/.well-known/jwks.json';

nameRequests({ A2aMessage });
nameResponses({ A2aAnswer, A2aCard });
