import { LONGEST_TTL_MINUTES } from '../../schemas/numbers.ts';
import { flag, group, list, number, PENDING, text, whole } from '../values.ts';

const Expiry = group({
  default_ttl: number(0, LONGEST_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Minutes until an item goes that does not say so itself. Unset: it stays.'),
  refresh_on_read: flag().default(true).describe('Whether the time of an item starts again when it is read.'),
  sweep_interval_minutes: number(0.01, LONGEST_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often expired items are removed. They are never returned, removed or not.'),
});

const Index = group({
  dims: whole(1, 16_000, 'dimensions').describe('How many numbers a vector has.'),
  embed: text()
    .regex(/^.+:.+$/, 'must be provider:model, or path:export such as ./embed.ts:embed')
    .describe(
      'What makes vectors: `provider:model` of a `@langchain` package that you install, or a function of your own as `path:export`.',
    ),
  fields: list()
    .refine((fields) => fields.length > 0, 'must name at least one path')
    .default(['$'])
    .describe('Paths of a value that are searched, such as `text` or `chapters[*].title`; `$` is all of it.'),
});

export const Store = group({
  ttl: Expiry.prefault({}),
  index: Index.optional().describe('Search by meaning. Unset: search by words.'),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
});
