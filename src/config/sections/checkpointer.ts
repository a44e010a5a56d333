import { LONGEST_TTL_MINUTES } from '../../schemas/numbers.ts';
import { block, group, number, PENDING, text, whole, word } from '../values.ts';

const Expiry = group({
  strategy: word(['delete', 'keep_latest'])
    .default('delete')
    .describe('What happens to an expired thread: it is deleted, or only its newest checkpoint is kept.'),
  default_ttl: number(0, LONGEST_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Minutes until a new thread expires. Unset: never.'),
  sweep_interval_minutes: number(0.01, LONGEST_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often expired threads are removed.'),
  sweep_limit: whole(1, 10_000_000, 'threads')
    .default(10_000)
    .describe('Maximum number of threads removed at a time.'),
});

export const Checkpointer = group({
  ttl: Expiry.prefault({}),
  backend: text().optional().describe('Backend that stores checkpoints.').meta(PENDING),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
  serde: block().describe('Types that checkpoints may contain.').meta(PENDING),
});
