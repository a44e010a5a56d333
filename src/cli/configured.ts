import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../core/clock.ts';
import { type Logger, logger } from '../core/logger.ts';
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

/** The configuration and a logger that writes as it says; its warnings are logged. `json`: unless it says otherwise. */
export async function configured(
  values: FlagValues,
  { json }: { json: boolean },
): Promise<LoadedConfig & { logger: Logger }> {
  const loaded = await loadFor(values);
  const log = loggerOf(loaded.config.log, json);
  for (const warning of loaded.warnings) log.warn(warning);
  return { ...loaded, logger: log };
}

/** `json`: what the configuration leaves open. */
export function loggerOf(options: Config['log'], json: boolean): Logger {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const color = options.color ?? process.stdout.hasColors?.() ?? false;
  return logger(
    options.level,
    (options.json ?? json)
      ? (line) => print(jsonLine(line, systemClock.now()))
      : (line) => print(readableLine(line, systemClock.now(), color)),
  );
}
