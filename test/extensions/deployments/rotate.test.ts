import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { deploymentStorage } from '../../../src/extensions/deployments/storage/all-repositories.ts';
import { openKeyRotation } from '../../../src/storage/storage.ts';
import { testSealer } from '../../support/encryption.ts';
import { remember, within } from '../../support/remembered-threads.ts';
import { describeEachPlace } from '../../support/storage-places.ts';

describeEachPlace('a database whose deployments have no secrets', (place) => {
  test('is re-encrypted completely', async () => {
    const url = await place();
    await within(url, testSealer(), async (storage) => {
      const { deployments, repositoryAccess } = deploymentStorage(storage.database.db);
      const deployment_id = randomUUID();
      const configs = { source_config: {}, source_revision_config: {} };
      await deployments.insert(
        { deployment_id, name: 'without-secrets', source: 'github', ...configs },
        [],
        undefined,
      );
      await repositoryAccess.deleteToken(deployment_id);
      await remember(storage, 1);
    });
    await using encryption = await openKeyRotation({ url, owned: OWNED_DATA, encryptor: testSealer() });
    const tables: string[] = [];
    const onTable = (table: string) => tables.push(table);
    expect(await encryption.rotate({ everything: true, onTable })).toMatchObject({ unreadable: [] });
    expect(tables).toContain('thread_values');
    expect(tables).not.toContain('deployment_repositories');
  });
});
