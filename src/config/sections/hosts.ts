import { z } from 'zod';
import { group, integer, mustBe } from '../value-types.ts';

/** More would be of no use even on the largest machines: each is a process of 100 MB or more. */
const MAX_HOSTS = 128;

export const Hosts = group({
  count: z
    .union(
      [z.literal('auto'), integer(0, MAX_HOSTS, 'hosts')],
      mustBe(`auto, or a number from 0 to ${MAX_HOSTS}`),
    )
    .default(0)
    .describe(
      'Processes that execute the graphs. `auto`: one, and more while it has no time for other runs, up to one fewer than the cores but at least 2; see [graph hosts](hosts.md#how-many). 0: the server process executes them itself. The default of `agent-server start` and `agent-server dev` is `auto`.',
    )
    .meta({ type: 'auto or whole number', range: `0–${MAX_HOSTS} hosts` }),
  max_memory_mb: integer(128, 1_000_000, 'megabytes')
    .optional()
    .describe(
      'Memory above which a host is replaced; its runs continue in another host from their next checkpoint. Unset: no limit.',
    ),
});
