import type { OwnedData } from '../../storage/owned-data.ts';
import { base } from './migrations.ts';

export const data: OwnedData = {
  name: 'deployments',
  migrations: [{ version: 1, name: 'base', text: base, expands: true }],
  encrypted: [
    { table: 'deployment_secrets', key: ['deployment_id', 'name'], columns: { value: 'text' } },
    {
      table: 'deployment_repositories',
      key: ['deployment_id'],
      columns: { hook_secret: 'text', deploy_key: 'text', token: 'text' },
    },
  ],
};
