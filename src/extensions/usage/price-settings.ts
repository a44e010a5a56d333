import { z } from 'zod';
import { group, mustBe, number, text } from '../../config/value-types.ts';

/** Per million tokens. */
const price = () => number(0, 1_000_000_000, 'per million tokens');

const Price = group({
  in: price().describe('Price of a million tokens that the model reads.'),
  cached: price()
    .optional()
    .describe("Price of a million tokens read from the provider's cache. Unset: the same as `in`."),
  out: price().describe('Price of a million tokens that the model writes.'),
});

const Usage = group({
  prices: z
    .record(z.string().min(1).max(256), Price, mustBe('a map of models to their prices'))
    .default({})
    .describe(
      'Prices of models by name, in which `*` matches any text: `in`, `cached` and `out`, each per million tokens. An exact name takes precedence, then the longest pattern.',
    )
    .meta({ type: 'map' }),
  currency: text().max(16).default('USD').describe('Currency of the prices, shown with each cost.'),
});

export const USAGE = { path: 'usage', schema: Usage.prefault({}), of_server: true };
