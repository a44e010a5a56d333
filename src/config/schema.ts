import { z } from 'zod';
import { block, bytes, flag, group, isLoopback, list, must, number, text, whole, word } from './values.ts';

/** Marks what langgraph.json knows and this server does not do yet: accepted, with one warning line. */
const PENDING = { pending: true };

const Server = group({
  host: text().default('127.0.0.1').describe('Address to listen on.'),
  port: whole(0, 65_535).default(8123).describe('Port to listen on; 0 takes a free one.'),
  api_keys: list()
    .default([])
    .describe('Keys accepted in `X-Api-Key`. Without one, only this machine is served.'),
  body_limit: bytes()
    .default(16 * 1024 ** 2)
    .describe('Largest request body, in bytes or like `16mb`; a larger one is answered with 413.'),
}).superRefine(({ host, api_keys }, context) => {
  if (api_keys.length > 0 || isLoopback(host)) return;
  context.addIssue({
    code: 'custom',
    path: ['host'],
    message:
      'other machines could reach this address and nothing would authenticate them. Set AGENT_SERVER_API_KEYS ' +
      '(or server.api_keys), or serve only this machine with --host 127.0.0.1',
  });
});

const Storage = group({
  url: text()
    .regex(/^(sqlite:.|postgres(ql)?:\/\/.)/, 'must begin with sqlite: or postgres://')
    .default('sqlite:.agent-server/server.db')
    .describe('Where everything is kept: `sqlite:` and a file, or `postgres://…`.'),
  folder: text()
    .optional()
    .describe('Where the path of a SQLite file starts. Unset: at the folder of the configuration.'),
  synchronous: word(['full', 'normal'])
    .default('full')
    .describe(
      'SQLite. `full`: what is acknowledged survives a power cut; `normal`: only the death of the process.',
    ),
});

const Runs = group({
  concurrency: whole(0, 10_000).default(10).describe('Runs executed at the same time; 0 executes none.'),
  max_attempts: whole(1, 100)
    .default(3)
    .describe('How often a run is started, the first time included, before it ends as `error`.'),
  timeout_seconds: whole(1).default(86_400).describe('A run that takes longer ends as `timeout`.'),
  shutdown_grace_seconds: whole(0, 3600)
    .default(180)
    .describe('How long running runs may go on after SIGTERM before they are put back, to be resumed.'),
  stream_ttl_seconds: whole(0)
    .default(86_400)
    .describe('How long the events of a finished run can be read again.'),
});

const Cors = group({
  allow_origins: list().default(['*']).describe('Origins a browser may call from.'),
  allow_origin_regex: text().optional().describe('Regular expression for more origins.'),
  allow_methods: list().default(['*']).describe('Methods a browser may use.'),
  allow_headers: list().default(['*']).describe('Request headers a browser may send.'),
  allow_credentials: flag().default(false).describe('Whether cookies may be sent; needs named origins.'),
  expose_headers: list()
    .default(['content-location', 'location', 'x-pagination-total', 'x-pagination-next'])
    .describe('Response headers a browser may read.'),
  max_age: whole(0).default(600).describe('Seconds a browser may keep the answer to a preflight request.'),
});

const Http = group({
  mount_prefix: text()
    .regex(/^(\/[\w.-]+)+$/, 'must be a path like /agents, without a slash at its end')
    .optional()
    .describe('Path that every route moves under.'),
  cors: Cors.prefault({}),
  disable_assistants: flag().default(false).describe('Leaves out the routes below `/assistants`.'),
  disable_threads: flag().default(false).describe('Leaves out the routes below `/threads`.'),
  disable_runs: flag().default(false).describe('Leaves out the routes of runs.'),
  disable_store: flag().default(false).describe('Leaves out the routes below `/store`.'),
  disable_meta: flag()
    .default(false)
    .describe('Leaves out `/info`, `/metrics`, `/docs` and `/openapi.json`.'),
  disable_mcp: flag().default(false).describe('Leaves out `/mcp`.'),
  disable_a2a: flag().default(false).describe('Leaves out `/a2a`.'),
  disable_ui: flag().default(false).describe('Leaves out `/ui`.'),
  disable_webhooks: flag().default(false).describe('Sends no webhooks.'),
  configurable_headers: block()
    .describe("Request headers that become part of a run's `configurable`.")
    .meta(PENDING),
  logging_headers: block().describe('Request headers that become part of the request log.').meta(PENDING),
  app: text().optional().describe('Your own routes, as `path:export`.').meta(PENDING),
  middleware_order: word(['auth_first', 'middleware_first'])
    .optional()
    .describe('Whether your own middleware runs before authentication.')
    .meta(PENDING),
  enable_custom_route_auth: flag().optional().describe('Authenticates your own routes too.').meta(PENDING),
});

const Log = group({
  level: word(['debug', 'info', 'warn', 'error', 'silent'], pythonLevel)
    .default('info')
    .describe('The least level that is logged.'),
  json: flag().optional().describe('JSON lines or readable ones. Unset: JSON in `start`, readable in `dev`.'),
  color: flag().optional().describe('Colour in readable lines. Unset: when the output is a terminal.'),
});

const Expiry = group({
  strategy: word(['delete', 'keep_latest'])
    .default('delete')
    .describe('What becomes of a thread: it goes, or all but its newest checkpoint does.'),
  default_ttl: number(0).optional().describe('Minutes until then, for new threads. Unset: they stay.'),
  sweep_interval_minutes: number(0.01).default(5).describe('How often threads are looked at.'),
  sweep_limit: whole(1).default(10_000).describe('How many threads may go at a time.'),
});

const Checkpointer = group({
  ttl: Expiry.prefault({}),
  backend: text().optional().describe('Which backend keeps checkpoints.').meta(PENDING),
  path: text().optional().describe('Your own backend, as `path:export`.').meta(PENDING),
  serde: block().describe('Which types checkpoints may hold.').meta(PENDING),
});

const GraphPath = text().regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./agent.ts:graph');

const Graph = z.union(
  [
    GraphPath,
    group({
      path: GraphPath.describe('File and export of the graph.'),
      description: text().optional().describe('What it does, for people and for other agents.'),
    }),
  ],
  'must be path:export, or a map with path and description',
);

const values = () => z.record(z.string(), z.unknown(), must('a map')).optional().meta({ type: 'map' });

const Defaults = group({
  configurable: values().describe('What the graph lets one configure.'),
  context: values().describe('The newer name of `configurable`; not both.'),
  tags: list().optional().describe('Kept with everything that its runs do.'),
  recursion_limit: whole(1).optional().describe('How many steps its runs may take.'),
}).refine(
  ({ configurable, context }) => !(configurable && context),
  'give configurable or context, not both',
);

/** The keys of the configuration file and their defaults. Names are those of langgraph.json where it has one. */
export const ConfigFile = group({
  graphs: z
    .record(z.string().min(1), Graph, must('a map of names to path:export'))
    .refine((graphs) => Object.keys(graphs).length > 0, 'must name at least one graph')
    .describe('Each graph by its name: `path:export`, or a map with `path` and `description`.')
    .meta({ type: 'map' }),
  assistants: z
    .record(z.string(), Defaults, must('a map of graphs to their defaults'))
    .optional()
    .describe('By the name of a graph: what its own assistant has until a client changes that one.')
    .meta({ type: 'map' }),
  env: z
    .union(
      [text(), z.array(text()), z.record(z.string(), z.coerce.string())],
      'must be the path of a file, a map, or a list of NAME=value',
    )
    .optional()
    .describe(
      'Environment of the graphs: a `.env` file, a map, or a list of `NAME=value`. What is set already wins.',
    )
    .meta({ type: 'path, map or list' }),
  server: Server.prefault({}),
  storage: Storage.prefault({}),
  runs: Runs.prefault({}),
  http: Http.prefault({}),
  log: Log.prefault({}),
  store: block().describe('Vector index, expiry or own backend of the long-term store.').meta(PENDING),
  checkpointer: Checkpointer.prefault({}),
  auth: block().describe('Your own authentication and authorisation handlers.').meta(PENDING),
  encryption: block().describe('Handlers that encrypt what is stored.').meta(PENDING),
  webhooks: block().describe('Address rules and headers of webhooks.').meta(PENDING),
  ui: block().describe('Components for generative user interfaces.').meta(PENDING),
  ui_config: block().describe('Settings of these components.').meta(PENDING),
});

export type ConfigValues = z.output<typeof ConfigFile>;

export interface GraphSpec {
  readonly graph_id: string;
  /** As written: from `root`. */
  readonly path: string;
  readonly export: string;
  readonly description: string | null;
}

/** The whole configuration with every default filled in; frozen to the bottom. Holds secrets: never log it. */
export interface Config
  extends Readonly<Pick<ConfigValues, 'server' | 'storage' | 'runs' | 'http' | 'log' | 'checkpointer'>> {
  readonly graphs: readonly GraphSpec[];
  /** Defaults of the system assistants, by graph. */
  readonly assistants: NonNullable<ConfigValues['assistants']>;
  /** Variables of the file's `env` key, for the graphs. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder that paths in the configuration start from. */
  readonly root: string;
  /** The configuration file; undefined when the graphs came from LANGSERVE_GRAPHS. */
  readonly file: string | undefined;
}

/** LOG_LEVEL has the levels of Python's logging. */
function pythonLevel(level: string): string {
  const names: Record<string, string> = {
    warning: 'warn',
    critical: 'error',
    fatal: 'error',
    trace: 'debug',
  };
  return names[level] ?? level;
}
