import { LONGEST_TTL_MINUTES } from '../../schemas/numbers.ts';
import { block, group, number, PENDING, text, whole, word } from '../values.ts';

const Expiry = group({
  strategy: word(['delete', 'keep_latest'])
    .default('delete')
    .describe('What becomes of a thread: it goes, or all but its newest checkpoint does.'),
  default_ttl: number(0, LONGEST_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Minutes until then, for new threads. Unset: they stay.'),
  sweep_interval_minutes: number(0.01, LONGEST_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often threads are looked at.'),
  sweep_limit: whole(1, 10_000_000, 'threads').default(10_000).describe('How many threads may go at a time.'),
});

export const Checkpointer = group({
  ttl: Expiry.prefault({}),
  backend: text().optional().describe('Which backend keeps checkpoints.').meta(PENDING),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
  serde: block().describe('Which types checkpoints may hold.').meta(PENDING),
});
