import { z } from 'zod';
import { isLoopback } from '../core/loopback.ts';
import { type Section, sectionsBelow } from './section.ts';
import { Auth } from './sections/auth.ts';
import { AssistantDefaults, Graph } from './sections/graphs.ts';
import { Hosts } from './sections/hosts.ts';
import { Http } from './sections/http.ts';
import { Crons, type httpsRule, Runs, Webhooks } from './sections/runs.ts';
import { Log, Metrics, Server } from './sections/server.ts';
import { Checkpointer, Encryption, Storage, Store } from './sections/storage.ts';
import { group, mustBe, text } from './value-types.ts';

/** What extensions add to the configuration file. */
export interface ConfigParts {
  /** Their values are read by `sectionOf`. */
  readonly sections: readonly Section[];
  /** What is wrong with values that involve several keys. */
  checkTogether(config: ConfigValues): readonly ConfigProblem[];
  /** Whether a server with this configuration needs no graphs of its own. */
  servesWithoutGraphs(config: object): boolean;
}

/** A value that the configuration must not have together with its others. */
export interface ConfigProblem {
  readonly path: string[];
  readonly message: string;
}

/** Keys of the configuration file with their defaults. Names follow langgraph.json where it has an equivalent. */
export function configFile(parts: ConfigParts) {
  return keys(parts.sections).superRefine((config, context) => {
    for (const problem of [...problemsOf(config, parts), ...parts.checkTogether(config)])
      context.addIssue({ code: 'custom', ...problem });
  });
}

function keys(sections: readonly Section[]) {
  const below = (parent: '' | 'http' | 'runs') => sectionsBelow(sections, parent) as Record<never, never>;
  return group({
    graphs: z
      .record(z.string().min(1), Graph, mustBe('a map of names to path:export'))
      .default({})
      .describe(
        'Graphs by name: `path:export`, or a map with `path` and `description`. At least one, unless the server has [deployments](deployments.md).',
      )
      .meta({ type: 'map' }),
    assistants: z
      .record(z.string(), AssistantDefaults, mustBe('a map of graphs to their defaults'))
      .optional()
      .describe(
        "Defaults of each graph's assistant, by graph name; used until a client changes the assistant.",
      )
      .meta({ type: 'map' }),
    env: z
      .union(
        [text(), z.array(text()), z.record(z.string(), z.coerce.string())],
        'must be the path of a file, a map, or a list of NAME=value',
      )
      .optional()
      .describe(
        'Environment of the graphs: a `.env` file, a map, or a list of `NAME=value`. Variables that are already set take precedence.',
      )
      .meta({ type: 'path, map or list' }),
    server: Server.prefault({}),
    storage: Storage.prefault({}),
    runs: group({ ...Runs.shape, ...below('runs') }).prefault({}),
    hosts: Hosts.prefault({}),
    crons: Crons.prefault({}),
    http: group({ ...Http.shape, ...below('http') }).prefault({}),
    log: Log.prefault({}),
    metrics: Metrics.prefault({}),
    store: Store.prefault({}),
    checkpointer: Checkpointer.prefault({}),
    auth: Auth.prefault({}),
    encryption: Encryption.prefault({}),
    webhooks: Webhooks.optional(),
    ...below(''),
  });
}

/** Rules that involve several keys. */
function problemsOf(config: ConfigValues, parts: ConfigParts): ConfigProblem[] {
  const { server, storage, assistants = {}, runs, graphs } = config;
  const problems: ConfigProblem[] = [];
  if (server.role !== 'all' && storage.url.startsWith('sqlite:')) {
    const message = `must be all with SQLite, which allows one process; other roles require PostgreSQL (storage.url)`;
    problems.push({ path: ['server', 'role'], message });
  }
  if (Object.keys(graphs).length === 0 && !parts.servesWithoutGraphs(config))
    problems.push({ path: ['graphs'], message: 'must name at least one graph' });
  for (const [name, { recursion_limit = 0 }] of Object.entries(assistants)) {
    if (recursion_limit <= runs.max_recursion_limit) continue;
    const message = `must not be above runs.max_recursion_limit, which is ${runs.max_recursion_limit}`;
    problems.push({ path: ['assistants', name, 'recursion_limit'], message });
  }
  if (hasAuthentication(config) || isLoopback(server.host)) return problems;
  const message =
    'other machines could reach this address without authentication. Set AGENT_SERVER_API_KEYS ' +
    '(or server.api_keys), or serve this machine only with --host 127.0.0.1';
  return [...problems, { path: ['server', 'host'], message }];
}

/** Whether callers must authenticate. */
export function hasAuthentication({ server, auth }: Pick<ConfigValues, 'server' | 'auth'>): boolean {
  return server.api_keys.length > 0 || auth.required || auth.path !== undefined || auth.jwt !== undefined;
}

export type ConfigValues = z.output<ReturnType<typeof keys>>;

export interface GraphSpec {
  readonly graph_id: string;
  /** As written, relative to `root`. */
  readonly path: string;
  readonly export: string;
  readonly description: string | null;
}

/** The complete configuration with defaults applied, deeply frozen. Contains secrets: never log it. */
export interface Config
  extends Readonly<
    Pick<
      ConfigValues,
      | 'server'
      | 'storage'
      | 'encryption'
      | 'runs'
      | 'hosts'
      | 'crons'
      | 'http'
      | 'log'
      | 'metrics'
      | 'checkpointer'
      | 'store'
      | 'auth'
    >
  > {
  readonly webhooks: NonNullable<ConfigValues['webhooks']> & { readonly https: ReturnType<typeof httpsRule> };
  readonly graphs: readonly GraphSpec[];
  /** Settings of the system assistants, by graph. */
  readonly assistants: NonNullable<ConfigValues['assistants']>;
  /** Variables of the file's `env` key, for the graphs. */
  readonly env: Readonly<Record<string, string>>;
  /** Base folder of relative paths. */
  readonly root: string;
  /** Configuration file; undefined if the graphs come from LANGSERVE_GRAPHS. */
  readonly file: string | undefined;
}
