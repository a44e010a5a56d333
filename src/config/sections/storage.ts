import { KEY_RULE, keyBytes } from '../../db/encryption/key-ring.ts';
import { MAX_TTL_MINUTES } from '../../schemas/numbers.ts';
import {
  boolean,
  group,
  integer,
  NOT_SUPPORTED_YET,
  number,
  oneOf,
  stringList,
  text,
  unchecked,
} from '../value-types.ts';

export const Storage = group({
  url: text()
    .regex(/^(sqlite:.|postgres(ql)?:\/\/.)/, 'must begin with sqlite: or postgres://')
    .refine(
      isDatabaseUrl,
      'is not a valid URL: percent-encode special characters of the password, such as %40 for @',
    )
    .default('sqlite:.agent-server/server.db')
    .describe('The database: `sqlite:` and a file, or `postgres://…`.'),
  folder: text()
    .optional()
    .describe(
      'Folder that the path of a SQLite file is relative to. Unset: the folder of the configuration.',
    ),
  synchronous: oneOf(['full', 'normal'])
    .default('full')
    .describe(
      'SQLite. `full`: acknowledged writes survive a power failure; `normal`: only a crash of the process.',
    ),
});

/** Validates the URL up front: the PostgreSQL client would fail with a stack that contains the URL. */
function isDatabaseUrl(url: string): boolean {
  if (url.startsWith('sqlite:')) return true;
  const address = URL.parse(url);
  if (!address) return false;
  try {
    return [address.username, address.password, address.pathname].map(decodeURIComponent).length > 0;
  } catch {
    return false;
  }
}

const isEncryptionKey = (key: string) => keyBytes(key) !== undefined;

export const Encryption = group({
  key: text()
    .refine(isEncryptionKey, KEY_RULE)
    .optional()
    .describe(
      'Key that encrypts stored data: 16, 24 or 32 bytes, as characters, hexadecimal or base64. Unset: no encryption.',
    ),
  fallback_keys: stringList()
    .refine((keys) => keys.every(isEncryptionKey), `each ${KEY_RULE}`)
    .default([])
    .describe('Further keys that decrypt stored data: earlier ones, or the next.'),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./encryption.ts:encryption')
    .optional()
    .describe('Keys from a vault, or your own encryption, as `path:export`.'),
}).refine(
  ({ key, path, fallback_keys }) => fallback_keys.length === 0 || key !== undefined || path !== undefined,
  {
    error: 'is required with fallback keys',
    path: ['key'],
  },
);

const ThreadTtl = group({
  strategy: oneOf(['delete', 'keep_latest'])
    .default('delete')
    .describe('What happens to an expired thread: it is deleted, or only its newest checkpoint is kept.'),
  default_ttl: number(0, MAX_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Minutes until a new thread expires. Unset: never.'),
  sweep_interval_minutes: number(0.01, MAX_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often expired threads are removed.'),
  sweep_limit: integer(1, 10_000_000, 'threads')
    .default(10_000)
    .describe('Maximum number of threads removed at a time.'),
});

export const Checkpointer = group({
  ttl: ThreadTtl.prefault({}),
  backend: text().optional().describe('Backend that stores checkpoints.').meta(NOT_SUPPORTED_YET),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(NOT_SUPPORTED_YET),
  serde: unchecked().describe('Types that checkpoints may contain.').meta(NOT_SUPPORTED_YET),
});

const ItemTtl = group({
  default_ttl: number(0, MAX_TTL_MINUTES, 'minutes')
    .optional()
    .describe('Default minutes until an item expires. Unset: never.'),
  refresh_on_read: boolean().default(true).describe('Whether a read restarts the time of an item.'),
  sweep_interval_minutes: number(0.01, MAX_TTL_MINUTES, 'minutes')
    .default(5)
    .describe('How often expired items are removed. Expired items are never returned.'),
});

const Index = group({
  dims: integer(1, 16_000, 'dimensions').describe('Dimensions of a vector.'),
  embed: text()
    .regex(/^.+:.+$/, 'must be provider:model, or path:export such as ./embed.ts:embed')
    .describe(
      'The embedder: `provider:model`, from a `@langchain` package that you install, or your own function as `path:export`.',
    ),
  fields: stringList()
    .refine((fields) => fields.length > 0, 'must name at least one path')
    .default(['$'])
    .describe('Paths of a value to embed, such as `text` or `chapters[*].title`; `$` is the whole value.'),
});

export const Store = group({
  ttl: ItemTtl.prefault({}),
  index: Index.optional().describe('Semantic search. Unset: full-text search.'),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(NOT_SUPPORTED_YET),
});
