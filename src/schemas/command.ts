import { z } from 'zod';
import { MAX_ITEMS, Name } from './bounds.ts';
import { JsonObject } from './fields.ts';
import { nameRequests } from './named.ts';

const Send = z.looseObject({
  node: Name.describe('The node to run.'),
  input: z.unknown().describe('The input of the node, instead of the state.'),
});

export const Command = z.looseObject({
  update: z
    .union([JsonObject, z.array(z.unknown())])
    .nullish()
    .describe('An update of the state: an object, or a list of [key, value].'),
  resume: z
    .unknown()
    .optional()
    .describe('The answer to the pending interrupt; by interrupt id if several are pending.'),
  goto: z
    .union([Name, Send, z.array(z.union([Name, Send])).max(MAX_ITEMS)])
    .nullish()
    .describe(
      'The nodes to run next, by name or with their own input. A node of a subgraph, such as `team:plan`, is executed alone: name it in `interrupt_after` as well.',
    ),
});
export type Command = z.infer<typeof Command>;

nameRequests({ Command, Send });
