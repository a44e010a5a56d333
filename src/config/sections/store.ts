import { LONGEST_TTL_MINUTES } from '../../schemas/numbers.ts';
import { flag, group, list, number, PENDING, text, whole } from '../values.ts';

const Expiry = group({
  default_ttl: number(0, LONGEST_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Default minutes until an item expires. Unset: never.'),
  refresh_on_read: flag().default(true).describe('Whether a read restarts the time of an item.'),
  sweep_interval_minutes: number(0.01, LONGEST_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often expired items are removed. Expired items are never returned.'),
});

const Index = group({
  dims: whole(1, 16_000, 'dimensions').describe('Dimensions of a vector.'),
  embed: text()
    .regex(/^.+:.+$/, 'must be provider:model, or path:export such as ./embed.ts:embed')
    .describe(
      'The embedder: `provider:model`, from a `@langchain` package that you install, or your own function as `path:export`.',
    ),
  fields: list()
    .refine((fields) => fields.length > 0, 'must name at least one path')
    .default(['$'])
    .describe('Paths of a value to embed, such as `text` or `chapters[*].title`; `$` is the whole value.'),
});

export const Store = group({
  ttl: Expiry.prefault({}),
  index: Index.optional().describe('Semantic search. Unset: full-text search.'),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
});
