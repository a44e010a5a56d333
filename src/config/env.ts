import { type AddressConfig, addressVariables } from './address.ts';
import type { Config } from './schema.ts';

/** An environment variable and the configuration key that it sets. */
export interface Variable {
  readonly name: string;
  readonly key: string;
  /** The value is JSON and replaces the whole block. */
  readonly json?: true;
  /** What the description of the key leaves open. */
  readonly note?: string;
}

/**
 * Every variable that the core reads (contract §15); extensions have some of their own. Precedence: flags, variables,
 * file. If two set the same key, the later line wins: blocks precede their members, general names precede specific ones.
 */
export const VARIABLES: readonly Variable[] = [
  { name: 'LANGSERVE_GRAPHS', key: 'graphs', json: true },
  { name: 'LANGGRAPH_CONFIG', key: 'assistants', json: true },
  { name: 'LANGGRAPH_HTTP', key: 'http', json: true },
  { name: 'LANGGRAPH_STORE', key: 'store', json: true },
  { name: 'LANGGRAPH_CHECKPOINTER', key: 'checkpointer', json: true },
  { name: 'LANGGRAPH_AUTH', key: 'auth', json: true },
  { name: 'LANGGRAPH_ENCRYPTION', key: 'encryption', json: true },
  { name: 'LANGGRAPH_WEBHOOKS', key: 'webhooks', json: true },
  { name: 'LANGGRAPH_SERVER_HOST', key: 'server.host' },
  { name: 'PORT', key: 'server.port' },
  { name: 'LANGGRAPH_SERVER_PORT', key: 'server.port', note: 'Overrides `PORT`.' },
  { name: 'AGENT_SERVER_API_KEYS', key: 'server.api_keys', note: 'Separated by commas.' },
  { name: 'AGENT_SERVER_RATE_LIMIT', key: 'server.rate_limit', note: 'A number, for both limits.' },
  { name: 'AGENT_SERVER_TRUST_PROXY', key: 'server.trust_proxy', note: 'Separated by commas.' },
  { name: 'AGENT_SERVER_ROLE', key: 'server.role' },
  { name: 'HTTP_MAX_REQUEST_BODY_BYTES', key: 'server.body_limit' },
  { name: 'POSTGRES_URI', key: 'storage.url' },
  { name: 'POSTGRES_URI_CUSTOM', key: 'storage.url', note: 'Overrides `POSTGRES_URI`.' },
  { name: 'DATABASE_URI', key: 'storage.url', note: 'Overrides both.' },
  { name: 'AGENT_SERVER_DATABASE_LISTEN_URL', key: 'storage.listen_url' },
  { name: 'AGENT_SERVER_DATABASE_PASSWORD_COMMAND', key: 'storage.password_command' },
  { name: 'AGENT_SERVER_DATABASE_MAX_CONNECTIONS', key: 'storage.max_connections' },
  { name: 'AGENT_SERVER_DATABASE_WAIT_SECONDS', key: 'storage.wait_seconds' },
  { name: 'AGENT_SERVER_DATABASE_MIGRATIONS', key: 'storage.migrations' },
  { name: 'AGENT_SERVER_DATA_DIR', key: 'storage.folder' },
  { name: 'AGENT_SERVER_NOTIFICATIONS', key: 'storage.notifications' },
  { name: 'LANGGRAPH_AES_KEY', key: 'encryption.key' },
  { name: 'LANGGRAPH_AES_FALLBACK_KEYS', key: 'encryption.fallback_keys', note: 'Separated by commas.' },
  { name: 'AGENT_SERVER_LEASE_SECONDS', key: 'runs.lease_seconds' },
  { name: 'N_JOBS_PER_WORKER', key: 'runs.concurrency' },
  { name: 'BG_JOB_TIMEOUT_SECS', key: 'runs.timeout_seconds' },
  { name: 'BG_JOB_MAX_RETRIES', key: 'runs.max_attempts' },
  { name: 'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS', key: 'runs.shutdown_grace_seconds' },
  { name: 'RESUMABLE_STREAM_TTL_SECONDS', key: 'runs.stream_ttl_seconds' },
  { name: 'AGENT_SERVER_RECORD', key: 'runs.record' },
  { name: 'AGENT_SERVER_HOSTS', key: 'hosts.count' },
  { name: 'FF_CRONS_ENABLED', key: 'crons.enabled' },
  { name: 'MOUNT_PREFIX', key: 'http.mount_prefix' },
  { name: 'CORS_CONFIG', key: 'http.cors', json: true },
  { name: 'CORS_ALLOW_ORIGINS', key: 'http.cors.allow_origins', note: 'Separated by commas.' },
  { name: 'LOG_LEVEL', key: 'log.level', note: 'Case-insensitive; also `WARNING`, `CRITICAL`.' },
  { name: 'LOG_JSON', key: 'log.json' },
  { name: 'LOG_COLOR', key: 'log.color' },
  { name: 'METRIC_PREFIX', key: 'metrics.prefix' },
];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Environment of the process. */
export function processEnvironment(): Environment {
  return process.env;
}

/** First API key in the environment, for clients: a server reads its keys from the configuration. */
export function apiKeyFromEnvironment(): string | undefined {
  const keys = (process.env['AGENT_SERVER_API_KEYS'] ?? '').split(',').map((key) => key.trim());
  return keys.find((key) => key !== '');
}

/**
 * Adds the variables of the file's `env` key. Variables that are already set take precedence; an empty one
 * counts as unset.
 */
export function withVariables(
  environment: Environment,
  variables: Readonly<Record<string, string>>,
): Environment {
  const set = Object.entries(environment).filter(([, value]) => value);
  return { ...environment, ...variables, ...Object.fromEntries(set) };
}

/**
 * Sets the variables of the file's `env` key in this process, as `withVariables`, and those of the server's address. Call
 * it before a graph loads.
 */
export function applyEnvironment(config: AddressConfig & Pick<Config, 'env'>): void {
  for (const [name, value] of Object.entries(config.env)) process.env[name] ||= value;
  Object.assign(process.env, addressVariables(config, process.env));
}

/** Variables that hold secrets of the server and that no graph needs. */
const SECRETS = new Set([
  'AGENT_SERVER_API_KEYS',
  'AGENT_SERVER_DATABASE_LISTEN_URL',
  'AGENT_SERVER_DATABASE_PASSWORD_COMMAND',
  'DATABASE_URI',
  'LANGGRAPH_AES_FALLBACK_KEYS',
  'LANGGRAPH_AES_KEY',
  'LANGGRAPH_AUTH',
  'LANGGRAPH_ENCRYPTION',
  'LANGGRAPH_WEBHOOKS',
  'POSTGRES_URI',
  'POSTGRES_URI_CUSTOM',
]);

/**
 * glibc gives each V8 thread its own memory arena and keeps it. Limiting the arenas saves 12 to 25 MB per
 * process.
 */
const MEMORY = { MALLOC_ARENA_MAX: '2' };

/** Environment of a graph host: this process's and the configuration's, without the secrets of the server. */
export function graphEnvironment(configured: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const all = { LANGCHAIN_CALLBACKS_BACKGROUND: 'false', ...MEMORY, ...configured, ...process.env };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !SECRETS.has(name)));
}

/** Variables of this process that programs need everywhere and that hold no secrets. */
const COMMON = [
  'PATH',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'NODE_EXTRA_CA_CERTS',
];

/**
 * Environment of a deployment's graph hosts: from this process, only what every program needs, and the address of the
 * deployment. `config`: that of the deployment.
 */
export function deploymentEnvironment(
  config: AddressConfig & Pick<Config, 'env'>,
  home: string,
): NodeJS.ProcessEnv {
  const common = Object.entries(process.env).filter(([name]) => COMMON.includes(name));
  return {
    LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
    ...Object.fromEntries(common),
    HOME: home,
    ...config.env,
    ...addressVariables(config, config.env),
  };
}

/** Names of variables that hold secrets. */
const SECRET_NAME = /(?:KEYS?|SECRETS?|TOKENS?|PASSWORDS?|PASSPHRASE)$/i;

/** The secrets of this process, to be masked in its log: its API keys, and the values of variables named like secrets. */
export function secretsOf({
  env,
  server,
}: {
  readonly env: Readonly<Record<string, string>>;
  readonly server: { readonly api_keys: readonly string[] };
}): string[] {
  const all = Object.entries({ ...env, ...process.env });
  const named = all.flatMap(([name, value = '']) => (SECRET_NAME.test(name) ? value.split(',') : []));
  return [...server.api_keys, ...named.map((value) => value.trim())];
}

/**
 * Must run before LangChain loads: with background callbacks, runs that start in the same tick silently lose streamed
 * tokens. A value set by the user is respected.
 */
export function disableBackgroundCallbacks(): void {
  process.env['LANGCHAIN_CALLBACKS_BACKGROUND'] ??= 'false';
}

/** Whether npm or npx started this process. */
export function isChildOfNpm(): boolean {
  return process.env['npm_command'] !== undefined;
}

/** The executable search path. */
export function searchPath(): string {
  return process.env['PATH'] ?? '';
}

/** Environment with another `PATH`. Windows may spell the name differently. */
export function environmentWithPath(PATH: string): Environment {
  const others = Object.entries(process.env).filter(([name]) => name.toUpperCase() !== 'PATH');
  return { ...Object.fromEntries(others), PATH };
}

/** Variables that enable LangSmith tracing in LangChain. */
const TRACING = ['LANGSMITH_TRACING', 'LANGSMITH_TRACING_V2', 'LANGCHAIN_TRACING_V2', 'LANGCHAIN_TRACING'];

export function isTracingEnabled(): boolean {
  return TRACING.some((name) => process.env[name] === 'true');
}
