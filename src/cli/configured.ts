import { isIPv6 } from 'node:net';
import { findFile } from '../config/file.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../core/clock.ts';
import { type LogFields, type Logger, type LogLevel, type LogLine, logger } from '../core/logger.ts';
import { banner } from './banner.ts';
import { type FlagValues, UsageError } from './command.ts';
import { jsonLine, readableLine } from './output.ts';

/** The configuration a command was called with. */
export function loadFor(values: FlagValues): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    file: values['config'],
    flags: { 'server.port': values['port'], 'server.host': values['host'] },
  });
}

/** Where a server that runs is found, and a key for it: by flags, else by the configuration. */
export async function serverFor(values: FlagValues): Promise<{ url: string; key: string | undefined }> {
  const { url, key, config: file } = values;
  if (url !== undefined) return { url: url.replace(/\/$/, ''), key };
  if (file === undefined && (await findFile(process.cwd(), undefined)) === undefined)
    return { url: DEFAULT_URL, key };
  const { server, http } = (await loadFor(values)).config;
  if (server.port === 0)
    throw new UsageError('the configuration leaves the port open: name the server with --url');
  const host = ['0.0.0.0', '::'].includes(server.host) ? '127.0.0.1' : server.host;
  const name = isIPv6(host) ? `[${host}]` : host;
  return { url: `http://${name}:${server.port}${http.mount_prefix ?? ''}`, key: key ?? server.api_keys[0] };
}

/** Where `dev` and `start` serve by default. */
const DEFAULT_URL = 'http://127.0.0.1:8123';

/** How a command tells what happens, as the configuration and the standard output have it. */
export interface Voice {
  readonly logger: Logger;
  /** Greets people at a terminal; undefined where a line of the log does. */
  readonly announce: ((facts: LogFields) => void) | undefined;
  readonly lines: Lines;
}

/** How lines are written, for a thread that writes its own. */
export interface Lines {
  readonly level: LogLevel;
  readonly json: boolean;
  readonly color: boolean;
}

/** What the configuration leaves open. */
export interface Told {
  /** A line is an object of JSON, for machines. */
  readonly json: boolean;
  /** As in `ReadableStyle`. */
  readonly code_of?: string;
}

/** The configuration and how to tell what happens; its warnings are logged. */
export async function configured(values: FlagValues, told: Told): Promise<LoadedConfig & Voice> {
  const loaded = await loadFor(values);
  const voice = voiceOf(loaded.config.log, told);
  for (const warning of loaded.warnings) voice.logger.warn(warning);
  return { ...loaded, ...voice };
}

export function voiceOf({ level, color, json: wanted }: Config['log'], { json, code_of }: Told): Voice {
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
