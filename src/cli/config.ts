import { isIPv6 } from 'node:net';
import { apiKeyFromEnvironment } from '../config/env.ts';
import { findConfigFile } from '../config/files.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { systemClock } from '../core/clock.ts';
import { type LogFields, type Logger, type LogLevel, type LogLine, logger } from '../core/logger.ts';
import { trimEnd } from '../core/text.ts';
import { columns, type FlagValues, UsageError } from './command.ts';
import { jsonLine, readableLine } from './output.ts';

/** The configuration a command was called with. */
export function loadConfigFor(values: FlagValues): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    file: values['config'],
    flags: { 'server.port': values['port'], 'server.host': values['host'] },
  });
}

/**
 * Where a server that runs is found, and a key for it: by flags, else by the environment, else by the configuration. The
 * key of the configuration is for the server of the configuration alone.
 */
export async function targetServer(values: FlagValues): Promise<{ url: string; key: string | undefined }> {
  const url = values['url'] === undefined ? undefined : parseServerUrl(values['url']);
  const given = values['key'] ?? apiKeyFromEnvironment();
  if (url !== undefined && given !== undefined) return { url, key: checkedKey(given) };
  const configuredOne = await configuredServer(values, url !== undefined);
  if (url === undefined && configuredOne.url === undefined)
    throw new UsageError('the configuration leaves the port open: name the server with --url');
  const key = given ?? (url === undefined || url === configuredOne.url ? configuredOne.key : undefined);
  return { url: url ?? (configuredOne.url as string), key: key === undefined ? undefined : checkedKey(key) };
}

/** The server of the configuration, with `url` in the form of `parseServerUrl`. */
async function configuredServer(
  values: FlagValues,
  isOptional: boolean,
): Promise<{ url: string | undefined; key?: string | undefined }> {
  const { config: file } = values;
  if (file === undefined && (await findConfigFile(process.cwd(), undefined)) === undefined)
    return { url: DEFAULT_URL };
  const loaded = await loadConfigFor(values).catch((error: unknown) => {
    // It was not asked for: a server that is named elsewhere is reached with a broken one, too.
    if (isOptional && file === undefined) return undefined;
    throw error;
  });
  if (loaded === undefined || loaded.config.server.port === 0) return { url: undefined };
  const { server, http } = loaded.config;
  const host = ['0.0.0.0', '::'].includes(server.host) ? '127.0.0.1' : server.host;
  const name = isIPv6(host) ? `[${host}]` : host;
  const url = parseServerUrl(`http://${name}:${server.port}${http.mount_prefix ?? ''}`);
  return { url, key: server.api_keys[0] };
}

/** An address to put paths behind. It is not repeated where it is refused: it may hold a password. */
function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new UsageError('--url must be the address of a server, such as http://127.0.0.1:8123');
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url must hold no user and no password: give a key with --key');
  return trimEnd(url.href, '/');
}

/** A key as a header can carry it. */
function checkedKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError('the API key must be printable ASCII characters without spaces');
}

/** Where `dev` and `start` serve by default. */
const DEFAULT_URL = 'http://127.0.0.1:8123';

/** How a command tells what happens, as the configuration and the standard output have it. */
export interface CommandOutput {
  readonly logger: Logger;
  /** Greets people at a terminal; undefined where a line of the log does. */
  readonly announce: ((facts: LogFields) => void) | undefined;
  readonly lines: LineFormat;
}

/** How lines are written, for a thread that writes its own. */
export interface LineFormat {
  readonly level: LogLevel;
  readonly json: boolean;
  readonly color: boolean;
}

/** What the configuration leaves open. */
export interface OutputDefaults {
  /** A line is an object of JSON, for machines. */
  readonly json: boolean;
  /** As in `ReadableStyle`. */
  readonly code_of?: string;
}

/** The configuration and how to tell what happens; its warnings are logged. */
export async function loadConfigAndOutput(
  values: FlagValues,
  defaults: OutputDefaults,
): Promise<LoadedConfig & CommandOutput> {
  const loaded = await loadConfigFor(values);
  const output = outputFor(loaded.config.log, defaults);
  for (const warning of loaded.warnings) output.logger.warn(warning);
  return { ...loaded, ...output };
}

export function outputFor(
  { level, color, json: wanted }: Config['log'],
  { json, code_of }: OutputDefaults,
): CommandOutput {
  const print = (text: string) => process.stdout.write(text);
  if (wanted ?? json) {
    const write = (line: LogLine) => print(`${jsonLine(line, systemClock.now())}\n`);
    return { logger: logger(level, write), announce: undefined, lines: { level, json: true, color: false } };
  }
  const colored = color ?? process.stdout.hasColors?.() ?? false;
  const style = { color: colored, code_of };
  return {
    logger: logger(level, (line) => print(`${readableLine(line, systemClock.now(), style)}\n`)),
    announce: process.stdout.isTTY ? (facts) => print(banner(facts, colored)) : undefined,
    lines: { level, json: false, color: colored },
  };
}

/** What a person at a terminal wants to know of a server that is ready, by the fields of its log line. */
const BANNER_ROWS = [
  ['url', 'API'],
  ['docs', 'Docs'],
  ['graphs', 'Graphs'],
  ['failed_graphs', 'Failed'],
  ['storage', 'Data'],
  ['auth', 'Keys'],
] as const;

/** The first lines of a server on a terminal. `facts`: the fields of the line `ready`. */
function banner(fields: LogFields, color: boolean): string {
  const bold = (text: string) => (color ? `\u001b[1m${text}\u001b[0m` : text);
  const rows = BANNER_ROWS.flatMap(([field, label]) =>
    fields[field] === undefined ? [] : [[label, String(fields[field])]],
  );
  return `\n  ${bold(`Agent Server ${VERSION}`)}\n\n${columns(rows).join('\n')}\n\n`;
}
