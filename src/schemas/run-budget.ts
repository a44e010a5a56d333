import { z } from 'zod';
import { boundedInt, boundedNumber, MAX_INTEGER } from './numbers.ts';

/** Limits that a request or an assistant sets for a run, beside those of the server. */
export const RunBudget = z
  .strictObject(
    {
      max_tokens: boundedInt({ min: 1, max: 1_000_000_000_000_000, unit: 'tokens' })
        .optional()
        .describe('Tokens that the run may read and write.'),
      max_cost: boundedNumber({ min: 0.0001, max: 1_000_000_000, unit: '`usage.currency`' })
        .optional()
        .describe('Cost of its calls of models.'),
      max_steps: boundedInt({ min: 1, max: MAX_INTEGER, unit: 'steps' })
        .optional()
        .describe('Supersteps of the graph that it may take.'),
    },
    { error: ({ code }) => (code === 'unrecognized_keys' ? LIMITS : undefined) },
  )
  .describe(
    'Limits of the run, which ends with the error `BudgetExceeded` at the step that reaches one, or asks a person if the server says so. ' +
      'At most those of the server (`runs.max_tokens`, `runs.max_cost`, `runs.max_steps`). Of an assistant and a request, the lower one applies.',
  );
export type RunBudget = z.infer<typeof RunBudget>;

const LIMITS = 'may have max_tokens, max_cost and max_steps';
