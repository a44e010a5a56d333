import { z } from 'zod';
import { group, integer, mustBe } from '../value-types.ts';

const MAX_HOSTS = 256;

export const Hosts = group({
  count: z
    .union(
      [z.literal('auto'), integer(0, MAX_HOSTS, 'hosts')],
      mustBe(`auto, or a number from 0 to ${MAX_HOSTS}`),
    )
    .default(0)
    .describe(
      'Processes that execute the graphs. `auto`: one less than there are cores, at least 1. 0: the graphs execute in the process of the server.',
    )
    .meta({ type: 'auto or whole number', range: `0–${MAX_HOSTS} hosts` }),
});
