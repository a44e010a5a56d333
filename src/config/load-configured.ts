import { basename } from 'node:path';
import { ConfigError } from './errors.ts';
import type { Config } from './schema.ts';

/** Loads what a configuration key names. Throws a `ConfigError` that names the key and its file. */
export async function loadConfigured<T>(
  { file }: Pick<Config, 'file'>,
  key: string,
  loaded: Promise<T>,
): Promise<T> {
  try {
    return await loaded;
  } catch (error) {
    const source = file === undefined ? 'configuration' : basename(file);
    throw new ConfigError([`${source}: ${key}: ${(error as Error).message}`], { cause: error });
  }
}
