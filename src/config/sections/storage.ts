import { KEY_RULE, keyBytes } from '../../db/encryption/key-ring.ts';
import { parsePostgresUrl } from '../../db/engines/postgres-url.ts';
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
    .describe('The database: `sqlite:` and a file, or `postgres://…`, also with several hosts.'),
  folder: text()
    .optional()
    .describe(
      'Folder that the path of a SQLite file and `deployments.folder` are relative to. Unset: the folder of the configuration.',
    ),
  synchronous: oneOf(['full', 'normal'])
    .default('full')
    .describe(
      'SQLite. `full`: acknowledged writes survive a power failure; `normal`: only a crash of the process.',
    ),
  listen_url: text()
    .refine((url) => parsePostgresUrl(url) !== undefined, 'must be a URL that begins with postgres://')
    .optional()
    .describe(
      'PostgreSQL. Direct URL of the same database for notifications, if `url` leads through a pooler such as PgBouncer. Unset: `url`.',
    ),
  password_command: text()
    .optional()
    .describe(
      'PostgreSQL. Command that prints the password, such as an access token of a cloud provider. Run without a shell for new connections, at most every 5 minutes.',
    ),
  max_connections: integer(5, 1000, 'connections')
    .default(20)
    .describe('PostgreSQL. Connections that this process may open.'),
  wait_seconds: integer(0, 86_400, 'seconds')
    .default(600)
    .describe(
      'PostgreSQL. How long the server waits at start for a database that cannot be reached before it exits; 0 exits at once.',
    ),
  migrations: oneOf(['apply', 'wait', 'refuse'])
    .default('apply')
    .describe(
      'What the server does at start if the database needs migrations: apply them, wait up to 10 minutes for `agent-server migrate`, or exit.',
    ),
  notifications: oneOf(['notify', 'poll', 'off'])
    .default('notify')
    .describe(
      'PostgreSQL. How processes notice changes made by others. `notify`: by LISTEN and NOTIFY, or like `poll` if notifications do not arrive; `poll`: by polling four times a second; `off`: by polling once a second.',
    ),
});

/** Validates the URL up front: the PostgreSQL client would fail with a stack that contains the URL. */
function isDatabaseUrl(url: string): boolean {
  return url.startsWith('sqlite:') || parsePostgresUrl(url) !== undefined;
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
    .describe('Additional keys that decrypt stored data: earlier keys, or the next one.'),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./encryption.ts:encryption')
    .optional()
    .describe('Keys from a vault, or your own encryption, as `path:export`.'),
}).refine(
  ({ key, path, fallback_keys }) => fallback_keys.length === 0 || key !== undefined || path !== undefined,
  {
    error: 'is required if fallback_keys is set',
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
  refresh_on_read: boolean().default(true).describe('Whether reading an item restarts its expiry.'),
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
