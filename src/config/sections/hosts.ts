import { z } from 'zod';
import { MAX_INTEGER } from '../../schemas/numbers.ts';
import { group, integer, mustBe } from '../value-types.ts';

/** More than that are no use on the largest machines: each is a process of a hundred megabytes or more. */
const MAX_HOSTS = 128;

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
  max_memory_mb: integer(128, 1_000_000, 'megabytes')
    .optional()
    .describe(
      'Memory of a host above which it is replaced; its runs go on in another from their next checkpoint. Without it there is no limit.',
    ),
  max_runs: integer(1, MAX_INTEGER, 'runs')
    .optional()
    .describe('Runs after which a host is replaced, for libraries that leak. Without it there is no limit.'),
});
