import { z } from 'zod';
import { JsonObject } from './fields.ts';

export const Send = z.looseObject({
  node: z.string().describe('The node to run.'),
  input: z.unknown().describe('What the node receives instead of the state.'),
});

export const Command = z.looseObject({
  update: z
    .union([JsonObject, z.array(z.unknown())])
    .nullish()
    .describe('A change of the state: an object, or a list of [key, value].'),
  resume: z
    .unknown()
    .optional()
    .describe('The answer to what waits; by the id of the interrupt when several wait.'),
  goto: z
    .union([z.string(), Send, z.array(z.union([z.string(), Send]))])
    .nullish()
    .describe('The nodes to run next, by name or with an input of their own.'),
});
export type Command = z.infer<typeof Command>;
