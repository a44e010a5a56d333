import { z } from 'zod';
import { parseNetwork } from '../../core/ip-ranges.ts';
import { boolean, bytes, group, integer, oneOf, port, stringList, text } from '../value-types.ts';

/** Named ranges of `trust_proxy`: loopback and private networks. */
const NAMED_RANGE = /^(loopback|linklocal|uniquelocal)$/;

const ReverseProxy = text().refine(
  (place) => NAMED_RANGE.test(place) || parseNetwork(place) !== undefined,
  'must be an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
);

const rate = () => integer(1, 1_000_000_000, 'requests');

export const Server = group({
  host: text().default('127.0.0.1').describe('Address to listen on.'),
  port: port(0).default(8123).describe('Port to listen on; 0 picks a free one.'),
  api_keys: stringList()
    .default([])
    .describe(
      'Keys accepted in `X-Api-Key` or as bearer tokens. Without keys and without `auth`, only this machine is served.',
    ),
  allowed_hosts: stringList()
    .default([])
    .describe(
      'Accepted host names of a server without keys, such as that of a proxy in front of it. `localhost` and loopback addresses are always allowed.',
    ),
  role: oneOf(['all', 'api', 'worker'])
    .default('all')
    .describe(
      'PostgreSQL. `api`: answers requests and executes no runs; `worker`: executes runs, crons, webhooks and expiry, and answers only `/ok`, `/info` and `/metrics`.',
    ),
  trust_proxy: stringList()
    .pipe(z.array(ReverseProxy))
    .default([])
    .describe(
      'Reverse proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are trusted: addresses, networks, `loopback` or `uniquelocal` (private networks). None: the headers are ignored.',
    )
    .meta({ type: 'list' }),
  max_connections: integer(1, 1_000_000, 'connections')
    .optional()
    .describe('Maximum number of open connections; further ones are closed immediately. Unset: no limit.'),
  max_header_bytes: bytes('1kb', '1mb')
    .default(16 * 1024)
    .describe('Largest request head, including the URL; a larger one returns 431.'),
  rate_limit: z
    .union([
      rate().transform((per_minute) => ({
        per_address_per_minute: per_minute,
        per_key_per_minute: per_minute,
      })),
      group({
        per_address_per_minute: rate().optional(),
        per_key_per_minute: rate().optional(),
      }),
    ])
    .default({})
    .describe(
      'Requests per minute for each address and for each key or user: a number for both, or a map with `per_address_per_minute` and `per_key_per_minute`. Unset: no limit.',
    )
    .meta({ type: 'whole number or map', range: rate().meta()?.['range'] }),
  // The upper bound stays below V8's string limit of 2^29 − 24 characters.
  body_limit: bytes('1kb', '500mb')
    .default(4 * 1024 ** 2)
    .describe('Largest request body, in bytes or like `16mb`; a larger one returns 413.'),
  max_body_values: integer(1000, 100_000_000, 'values')
    .default(50_000)
    .describe(
      'Maximum number of values in the JSON of a request, including keys; more return 413. Parsing blocks other requests for about half a microsecond per value.',
    ),
  body_budget: bytes('1kb', '64gb')
    .default(64 * 1024 ** 2)
    .describe(
      'Maximum bytes of request bodies and WebSocket messages in memory at a time, at least `body_limit`. Requests beyond it return 503; bodies up to 64 kB are always accepted.',
    ),
  send_budget: bytes('1mb', '64gb')
    .default(256 * 1024 ** 2)
    .describe(
      'Maximum bytes of responses in memory that clients have not read yet. A response beyond it is replaced by 503 with `Retry-After`; up to 64 kB are always sent. Streams do not count.',
    ),
});

export const Log = group({
  level: oneOf(['debug', 'info', 'warn', 'error', 'silent'], pythonLevel)
    .default('info')
    .describe('Lowest level that is logged.'),
  json: boolean()
    .optional()
    .describe('JSON lines or readable ones. Unset: readable in `dev` and on a terminal, else JSON.'),
  color: boolean().optional().describe('Colour in readable lines. Unset: when the output is a terminal.'),
});

export const Metrics = group({
  prefix: text()
    .regex(/^[A-Za-z_:][\w:]{0,63}$/, 'must be letters, digits, _ and :, and not begin with a digit')
    .default('lg_api_')
    .describe(
      'Prefix of the metrics that the official server also has; all others begin with `agent_server_`, see [monitoring](monitoring.md).',
    ),
});

/** LOG_LEVEL uses the level names of Python's logging. */
function pythonLevel(level: string): string {
  const names: Record<string, string> = {
    warning: 'warn',
    critical: 'error',
    fatal: 'error',
    trace: 'debug',
  };
  return names[level] ?? level;
}
