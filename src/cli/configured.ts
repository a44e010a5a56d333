import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../core/clock.ts';
import { type LogFields, type Logger, type LogLine, logger } from '../core/logger.ts';
import { banner } from './banner.ts';
import type { FlagValues } from './command.ts';
import { jsonLine, readableLine } from './output.ts';

/** The configuration a command was called with. */
export function loadFor(values: FlagValues): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    file: values['config'],
    flags: { 'server.port': values['port'], 'server.host': values['host'] },
  });
}

/** How a command tells what happens, as the configuration and the standard output have it. */
export interface Voice {
  readonly logger: Logger;
  /** Greets people at a terminal; undefined where a line of the log does. */
  readonly announce: ((facts: LogFields) => void) | undefined;
}

/** The configuration and how to tell what happens; its warnings are logged. `json`: unless the configuration says. */
export async function configured(
  values: FlagValues,
  { json }: { json: boolean },
): Promise<LoadedConfig & Voice> {
  const loaded = await loadFor(values);
  const voice = voiceOf(loaded.config.log, json);
  for (const warning of loaded.warnings) voice.logger.warn(warning);
  return { ...loaded, ...voice };
}

/** `json`: what the configuration leaves open. */
export function voiceOf({ level, color, json: wanted }: Config['log'], json: boolean): Voice {
  const print = (text: string) => process.stdout.write(text);
  if (wanted ?? json) {
    const write = (line: LogLine) => print(`${jsonLine(line, systemClock.now())}\n`);
    return { logger: logger(level, write), announce: undefined };
  }
  const colored = color ?? process.stdout.hasColors?.() ?? false;
  return {
    logger: logger(level, (line) => print(`${readableLine(line, systemClock.now(), colored)}\n`)),
    announce: process.stdout.isTTY ? (facts) => print(banner(facts, colored)) : undefined,
  };
}
