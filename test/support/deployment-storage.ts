import { OWNED_DATA } from '../../src/app/extensions.ts';
import { deploymentStorage } from '../../src/extensions/deployments/storage/all-repositories.ts';
import { openStorage, type StorageOptions } from '../../src/storage/storage.ts';

/** The storage of a server, with the tables and repositories of deployments. */
export async function openDeploymentStorage(options: StorageOptions) {
  const storage = await openStorage({ owned: OWNED_DATA, ...options });
  return { ...storage, ...deploymentStorage(storage.database.db) };
}
