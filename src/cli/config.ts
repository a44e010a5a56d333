import { localUrl } from '../config/address.ts';
import { apiKeyFromEnvironment, secretsOf } from '../config/env.ts';
import { findConfigFile } from '../config/files.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import type { LogFields, Logger } from '../core/logger.ts';
import { secretMask } from '../core/mask-secrets.ts';
import { RecentLog } from '../core/recent-log.ts';
import { trimEnd } from '../core/text.ts';
import { columns, type FlagValues, UsageError } from './command.ts';
import { lineLogger } from './output.ts';

/** Defaults of `start` and `dev`, where a node must not harm other runs. An embedded server starts no processes unasked. */
export const SERVING_DEFAULTS: Readonly<Record<string, string>> = { 'hosts.count': 'auto' };

/** During development, the first question is what the model saw. */
export const DEVELOPING_DEFAULTS = { ...SERVING_DEFAULTS, 'runs.record': 'contents' };

/** Loads the configuration for a command. `defaults`: of the command, by key. */
export function loadConfigFor(
  values: FlagValues,
  defaults?: Readonly<Record<string, string>>,
): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    defaults,
    file: values['config'],
    flags: { 'server.port': values['port'], 'server.host': values['host'], 'server.role': values['role'] },
  });
}

/**
 * Address and API key of a running server: from flags, else environment, else configuration. The configuration's key is
 * only sent to the configuration's server.
 */
export async function targetServer(values: FlagValues): Promise<{ url: string; key: string | undefined }> {
  const url = values['url'] === undefined ? undefined : parseServerUrl(values['url']);
  const given = values['key'] ?? apiKeyFromEnvironment();
  if (url !== undefined && given !== undefined) return { url, key: checkedKey(given) };
  const configuredOne = await configuredServer(values, url !== undefined);
  if (url === undefined && configuredOne.url === undefined)
    throw new UsageError('the configured port is 0, so its address is unknown: name the server with --url');
  const key = given ?? (url === undefined || url === configuredOne.url ? configuredOne.key : undefined);
  return { url: url ?? (configuredOne.url as string), key: key === undefined ? undefined : checkedKey(key) };
}

/** The configured server; `url` is in the form of `parseServerUrl`. */
async function configuredServer(
  values: FlagValues,
  isOptional: boolean,
): Promise<{ url: string | undefined; key?: string | undefined }> {
  const { config: file } = values;
  if (file === undefined && (await findConfigFile(process.cwd(), undefined)) === undefined)
    return { url: DEFAULT_URL };
  const loaded = await loadConfigFor(values).catch((error: unknown) => {
    // A broken default configuration is not an error if the server is named by other means.
    if (isOptional && file === undefined) return undefined;
    throw error;
  });
  if (loaded === undefined || loaded.config.server.port === 0) return { url: undefined };
  return { url: parseServerUrl(localUrl(loaded.config)), key: loaded.config.server.api_keys[0] };
}

/** Parses a base URL. The error does not repeat it, because it may contain a password. */
function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new UsageError('--url must be the address of a server, such as http://127.0.0.1:8123');
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url must not contain a user or password: pass an API key with --key');
  return trimEnd(url.href, '/');
}

/** Validates that a key is a legal header value. */
function checkedKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError('the API key must be printable ASCII characters without spaces');
}

/** Default address of `dev` and `start`. */
const DEFAULT_URL = 'http://127.0.0.1:8123';

/** Logger and banner of a command, as configured. */
export interface CommandOutput {
  readonly logger: Logger;
  /** The newest lines of `logger`. */
  readonly recent_log: RecentLog;
  /** Prints the banner on a terminal; undefined if a log line reports readiness. */
  readonly announce: ((fields: LogFields) => void) | undefined;
}

/** Defaults for what the configuration leaves unset. */
export interface OutputDefaults {
  /** JSON lines, for machines. */
  readonly json: boolean;
  /** Adds a code frame of the user's code to readable lines, with paths relative to this folder. */
  readonly code_of?: string;
  /** By key of the configuration. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** Loads the configuration and sets up output; logs the configuration's warnings. */
export async function loadConfigAndOutput(
  values: FlagValues,
  defaults: OutputDefaults,
): Promise<LoadedConfig & CommandOutput> {
  const loaded = await loadConfigFor(values, defaults.keys);
  const output = await outputFor(loaded.config, defaults);
  for (const warning of loaded.warnings) output.logger.warn(warning);
  return { ...loaded, ...output };
}

export async function outputFor(
  config: Pick<Config, 'log' | 'env' | 'server'>,
  defaults: OutputDefaults,
): Promise<CommandOutput> {
  const { level, color: wanted_color, json: wanted_json } = config.log;
  const json = wanted_json ?? defaults.json;
  const color = !json && (wanted_color ?? process.stdout.hasColors?.() ?? false);
  // Never a destination of pino: it blocks the event loop while a full pipe is not read.
  const print = (text: string) => process.stdout.write(text);
  const recent_log = new RecentLog();
  return {
    logger: await lineLogger({ level, json, color, code_of: defaults.code_of }, print, {
      mask: secretMask(secretsOf(config)),
      recent_log,
    }),
    recent_log,
    announce: process.stdout.isTTY && !json ? (fields) => print(banner(fields, color)) : undefined,
  };
}

/** Rows of the banner, by field of the `ready` log line. */
const BANNER_ROWS = [
  ['url', 'API'],
  ['docs', 'Docs'],
  ['graphs', 'Graphs'],
  ['failed_graphs', 'Failed'],
  ['storage', 'Data'],
  ['auth', 'Keys'],
] as const;

/** Banner on a terminal. `fields`: those of the `ready` log line. */
function banner(fields: LogFields, color: boolean): string {
  const bold = (text: string) => (color ? `\u001b[1m${text}\u001b[0m` : text);
  const rows = BANNER_ROWS.flatMap(([field, label]) =>
    fields[field] === undefined ? [] : [[label, String(fields[field])]],
  );
  return `\n  ${bold(`Agent Server ${VERSION}`)}\n\n${columns(rows).join('\n')}\n\n`;
}
