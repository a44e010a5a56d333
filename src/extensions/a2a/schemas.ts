import { z } from 'zod';
import { LongPath, MAX_MODES, MAX_PARTS, Name, Names } from '../../schemas/bounds.ts';
import { JsonObject, SmallObject } from '../../schemas/fields.ts';
import { nameRequests, nameResponses } from '../../schemas/named.ts';

/** An A2A JSON-RPC message, for the documentation only: the A2A library parses it. */
export const A2aMessage = z.looseObject({
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: z.union([Name, z.number()]).optional().describe('Returned in the response.'),
  method: Name.describe('Such as `SendMessage` (1.0) or `message/send` (0.3).'),
  params: JsonObject.optional().describe('The parameters of the method.'),
});

const Modes = z.array(Name).max(MAX_MODES).nullish();
const text = Name.nullish();
const PushConfig = z.looseObject({
  id: text,
  url: LongPath.nullish(),
  token: LongPath.nullish(),
  authentication: z
    .looseObject({
      scheme: text,
      schemes: z.array(Name).max(MAX_MODES).nullish(),
      credentials: LongPath.nullish(),
    })
    .nullish(),
});

/** Maxima of the parameters of all methods, in either version. The A2A library checks their types. */
export const A2aParams = PushConfig.extend({
  taskId: text,
  contextId: text,
  pageToken: LongPath.nullish(),
  metadata: SmallObject.nullish(),
  pushNotificationConfig: PushConfig.nullish(),
  message: z
    .looseObject({
      messageId: text,
      contextId: text,
      taskId: text,
      parts: z.array(z.unknown()).max(MAX_PARTS).nullish(),
      extensions: Names.nullish(),
      referenceTaskIds: Names.nullish(),
      metadata: SmallObject.nullish(),
    })
    .nullish(),
  configuration: z
    .looseObject({
      acceptedOutputModes: Modes,
      pushNotificationConfig: PushConfig.nullish(),
      taskPushNotificationConfig: PushConfig.nullish(),
    })
    .nullish(),
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
