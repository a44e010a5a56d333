import { z } from 'zod';
import { parseNetwork } from '../../core/ip-ranges.ts';
import { MAX_DELAY_S, MAX_INTEGER } from '../../schemas/numbers.ts';
import { RECORD_LEVELS } from '../../schemas/steps.ts';
import { boolean, group, integer, mustBe, number, oneOf, port, stringList, text } from '../value-types.ts';

const MAX_CONCURRENCY = 10_000;
const CONCURRENCY = mustBe(`auto, or a whole number of runs from 0 to ${MAX_CONCURRENCY}`);

export const Runs = group({
  concurrency: z
    .union([z.literal('auto', CONCURRENCY), integer(0, MAX_CONCURRENCY, 'runs')], CONCURRENCY)
    .default('auto')
    .describe(
      'Runs executed at the same time; 0 executes none. `auto`: 10, and up to 1,000 while runs wait, such as for a model, and memory suffices. See [performance](performance.md#how-many-runs-execute-at-the-same-time).',
    )
    .meta({ type: 'auto or whole number', range: `0–${MAX_CONCURRENCY} runs` }),
  max_attempts: integer(1, 100, 'attempts')
    .default(3)
    .describe('Attempts of a run, including the first, before it ends as `error`.'),
  max_recursion_limit: integer(25, MAX_INTEGER, 'steps')
    .default(10_000)
    .describe(
      'The largest `recursion_limit` that a request or an assistant may set; it ends graphs that loop forever. If none is set, LangGraph stops at 25.',
    ),
  timeout_seconds: integer(1, MAX_DELAY_S, 'seconds')
    .default(86_400)
    .describe('A run that takes longer ends as `timeout`.'),
  fair_by: oneOf(['none', 'owner'])
    .default('none')
    .describe(
      'Who gets the next free slot. `none`: the run that has waited longest; `owner`: users, or API keys, in turn, however many runs each has.',
    ),
  max_per_owner: integer(1, 1_000_000, 'runs')
    .optional()
    .describe(
      'Maximum runs of one owner that execute at the same time, in all processes together; implies `fair_by: owner`. Unset: no limit.',
    ),
  lease_seconds: number(1, 600, 'seconds')
    .default(20)
    .describe(
      'PostgreSQL. How long a process may be silent before others take over its runs. It renews its lease four times as often; all processes should have the same value.',
    ),
  max_stall_seconds: number(1, MAX_DELAY_S, 'seconds')
    .default(300)
    .describe(
      'PostgreSQL. How long the event loop of this process may be blocked, as by a node without graph hosts, before other processes take over its runs.',
    ),
  shutdown_grace_seconds: integer(0, 3600, 'seconds')
    .default(180)
    .describe('How long running runs may continue after SIGTERM before they return to the queue.'),
  record: oneOf([...RECORD_LEVELS])
    .default('all')
    .describe(
      'What is recorded of each run. `nodes`: times and outcomes of nodes; `all`: also calls of models, with their tokens, and of tools, retrievers and the store; `contents`: also what models, tools and nodes were given and returned, encrypted and deleted like states; `off`: nothing. The default of `agent-server dev` is `contents`. See [debugging](debugging.md#what-did-the-model-see).',
    ),
  stream_ttl_seconds: integer(0, MAX_DELAY_S, 'seconds')
    .default(86_400)
    .describe('How long the events of a finished run can be replayed.'),
});

export const Crons = group({
  enabled: boolean()
    .default(true)
    .describe(
      'Whether this process creates the runs of crons. If several processes share a database, each run is still created once.',
    ),
  missed: oneOf(['fire_once', 'skip'])
    .default('fire_once')
    .describe('What happens to times missed while no server ran: one run for all of them, or none.'),
});

const Secret = text().regex(
  /^(whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/,
  'must be whsec_ and at least 24 random bytes in base64, such as from `openssl rand -base64 32`',
);

/** IP address, network, or host name. */
const HOST_NAME = /^(\*\.)?(?=.*[a-z])[\w.-]+$/i;
const HostOrNetwork = text().refine(
  (place) => HOST_NAME.test(place) || parseNetwork(place) !== undefined,
  'must be a network such as 10.0.0.0/8, an address, or a host name',
);

/** Hop-by-hop headers. */
const HOP_BY_HOP =
  /^(host|connection|keep-alive|content-length|transfer-encoding|upgrade|expect|te|trailer)$/i;
const HeaderName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name')
  .refine((name) => !HOP_BY_HOP.test(name), 'must not be a hop-by-hop header, such as Connection or Host');
const HeaderValue = text().regex(/^[^\r\n\0]*$/, 'must be one line');

const Ports = z.array(port(1), mustBe('a list of ports')).meta({
  type: 'list of whole numbers',
  range: port(1).meta()?.['range'],
});

const Url = group({
  require_https: boolean()
    .optional()
    .describe(
      'Whether URLs must be `https:`. Unset: yes if there is a `webhooks` block, except for private addresses that it allows.',
    ),
  allowed_domains: stringList()
    .default([])
    .describe('Allowed hosts: exact, or `*.example.com` for subdomains. None: all.'),
  allowed_ports: Ports.default([]).describe('Allowed ports. None: all.'),
  max_url_length: integer(1, 65_536, 'characters').default(65_536).describe('Longest URL, in characters.'),
  disable_loopback: boolean()
    .default(true)
    .describe(
      "Blocks this machine and the server's own routes; `false` allows `localhost`, 127.x and paths.",
    ),
  allow_private: z
    .array(HostOrNetwork, mustBe('a list'))
    .default([])
    .describe('Networks, addresses and hosts that are allowed although they are private.')
    .meta({ type: 'list' }),
});

const Deliver = group({
  concurrency_per_host: integer(1, 1000, 'deliveries')
    .default(4)
    .describe('Deliveries sent to one receiver at the same time.'),
  timeout_seconds: number(0.1, 86_400, 'seconds').default(30).describe('Total time for a response.'),
  give_up_hours: number(0.001, 876_000, 'hours')
    .default(24)
    .describe('How long a delivery is retried before it is dead.'),
  keep_days: number(0.001, 36_500, 'days').default(7).describe('How long a finished delivery is kept.'),
});

export const Webhooks = group({
  secret: stringList()
    .pipe(z.array(Secret))
    .default([])
    .describe('Signing secret (Standard Webhooks). A list during rotation: each of them signs.')
    .meta({ type: 'string or list' }),
  headers: z
    .record(HeaderName, HeaderValue, mustBe('a map'))
    .optional()
    .describe(
      'Headers sent with each webhook; may contain environment variables, see [webhooks](webhooks.md).',
    )
    .meta({ type: 'map' }),
  env_prefix: text()
    .default('LG_WEBHOOK_')
    .describe('Prefix of the environment variables that `headers` may use, so that no other secret leaks.'),
  stateless_values: boolean()
    .default(false)
    .describe('Whether the `values` of stateless runs are sent too; nothing else of such a run is kept.'),
  url: Url.prefault({}),
  delivery: Deliver.prefault({}),
});

/** Policy for plain-HTTP webhooks: a configured block makes the server strict, like the official one (contract §6). */
export function httpsRule(
  given: z.output<typeof Webhooks> | undefined,
): 'always' | 'unless opened' | 'never' {
  if (!given) return 'never';
  const { require_https } = given.url;
  if (require_https === undefined) return 'unless opened';
  return require_https ? 'always' : 'never';
}
