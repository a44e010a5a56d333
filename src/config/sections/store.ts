import { block, flag, group, number, PENDING, text } from '../values.ts';

/** Minutes; a thousand years, for no calendar goes on for ever. */
const LONGEST_TTL = 525_600_000;

const Expiry = group({
  default_ttl: number(0, LONGEST_TTL)
    .optional()
    .describe('Minutes until an item goes that does not say so itself. Unset: it stays.'),
  refresh_on_read: flag().default(true).describe('Whether the time of an item starts again when it is read.'),
  sweep_interval_minutes: number(0.01)
    .default(5)
    .describe('How often expired items are removed. They are never returned, removed or not.'),
});

export const Store = group({
  ttl: Expiry.prefault({}),
  index: block().describe('Vector index of the long-term store.').meta(PENDING),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
});
