import { OWNED_DATA } from '../app/extensions.ts';
import { applyEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Encryptor } from '../db/encryption/cipher.ts';
import type { StoredDeployment } from '../extensions/deployments/storage/databases.ts';
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
}

/** The database of each deployment, whether or not a server serves it; none if deployments are off. */
export async function configuredDeployments(config: Config): Promise<readonly StoredDeployment[]> {
  const { deployments, storage } = config;
  if (!deployments.enabled) return [];
  const { deploymentFiles } = await import('../extensions/deployments/storage/files.ts');
  const { storedDeployments } = await import('../extensions/deployments/storage/databases.ts');
  const { url, password_command } = storage;
  return storedDeployments({ url, password_command, files: deploymentFiles(deployments.folder) });
}

/** Loads the configuration for a command that reads or repairs stored data. */
export async function configuredStorage(values: FlagValues): Promise<ConfiguredStorage> {
  const { config } = await loadConfigFor(values);
  applyEnvironment(config);
  const { openEncryptor } = await import('../app/encryption.ts');
  const { url, password_command } = config.storage;
  return { config, url, password_command, encryptor: await openEncryptor(config), owned: OWNED_DATA };
}
