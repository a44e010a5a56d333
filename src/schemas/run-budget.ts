import { z } from 'zod';
import { boundedInt, boundedNumber, MAX_INTEGER } from './numbers.ts';

/** Limits that a request or an assistant sets for a run, in addition to those of the server. */
export const RunBudget = z
  .strictObject(
    {
      max_tokens: boundedInt({ min: 1, max: 1_000_000_000_000_000, unit: 'tokens' })
        .optional()
        .describe('Maximum tokens that the run may read and write.'),
      max_cost: boundedNumber({ min: 0.0001, max: 1_000_000_000, unit: '`usage.currency`' })
        .optional()
        .describe('Maximum cost of its model calls.'),
      max_steps: boundedInt({ min: 1, max: MAX_INTEGER, unit: 'steps' })
        .optional()
        .describe('Maximum supersteps of the graph.'),
    },
    { error: ({ code }) => (code === 'unrecognized_keys' ? LIMITS : undefined) },
  )
  .describe(
    'Limits of the run. At the step that reaches one, the run ends with the error `BudgetExceeded`, or asks a person if the server is configured so. ' +
      'They cannot exceed those of the server (`runs.max_tokens`, `runs.max_cost`, `runs.max_steps`). If both assistant and request set a limit, the lower one applies.',
  );
export type RunBudget = z.infer<typeof RunBudget>;

const LIMITS = 'may only have max_tokens, max_cost and max_steps';
