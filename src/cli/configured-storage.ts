import { applyEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Encryptor } from '../db/encryption/cipher.ts';
import type { FlagValues } from './command.ts';
import { loadConfigFor } from './config.ts';

/** The configured database of a command, with its encryption if there is any. */
export interface ConfiguredStorage {
  readonly config: Config;
  readonly url: string;
  /** Command that prints the password of its PostgreSQL. */
  readonly password_command: string | undefined;
  readonly encryptor: Encryptor | undefined;
}

/** Loads the configuration for a command that reads or mends stored data. */
export async function configuredStorage(values: FlagValues): Promise<ConfiguredStorage> {
  const { config } = await loadConfigFor(values);
  applyEnvironment(config.env);
  const { openEncryptor } = await import('../app/encryption.ts');
  const { url, password_command } = config.storage;
  return { config, url, password_command, encryptor: await openEncryptor(config) };
}
