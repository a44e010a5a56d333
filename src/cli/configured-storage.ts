import { OWNED_DATA, ownedDatabases, ownedFiles } from '../app/extensions.ts';
import { applyEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Encryptor } from '../db/encryption/cipher.ts';
import type { OwnedData } from '../storage/owned-data.ts';
import type { FlagValues } from './command.ts';
import { loadConfigFor } from './config.ts';

/** The configured database of a command, with its encryption if there is any. */
export interface ConfiguredStorage {
  readonly config: Config;
  readonly url: string;
  /** Command that prints the PostgreSQL password. */
  readonly password_command: string | undefined;
  readonly encryptor: Encryptor | undefined;
  /** What extensions own in it. */
  readonly owned: readonly OwnedData[];
  /** The databases that extensions have in addition to it. */
  readonly databases: () => ReturnType<typeof ownedDatabases>;
  /** The files that extensions have in addition to it. */
  readonly files: () => ReturnType<typeof ownedFiles>;
}

/** Loads the configuration for a command that reads or repairs stored data. */
export async function configuredStorage(values: FlagValues): Promise<ConfiguredStorage> {
  const { config } = await loadConfigFor(values);
  applyEnvironment(config);
  const { openEncryptor } = await import('../app/encryption.ts');
  const { url, password_command } = config.storage;
  const encryptor = await openEncryptor(config);
  const databases = () => ownedDatabases(config);
  const files = () => ownedFiles(config);
  return { config, url, password_command, encryptor, owned: OWNED_DATA, databases, files };
}
