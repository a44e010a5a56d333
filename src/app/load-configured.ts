import { basename } from 'node:path';
import { ConfigError } from '../config/errors.ts';
import type { Config } from '../config/schema.ts';

/** What a key of the configuration names, loaded. Throws a `ConfigError` that says where the key was set. */
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
