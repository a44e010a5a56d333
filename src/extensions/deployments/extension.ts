import type { Extension } from '../extension.ts';
import { data } from './data.ts';

export const deployments: Extension = {
  name: 'deployments',
  isEnabled: (config) => config.deployments.enabled,
  data,
  async databases({ deployments: { enabled, folder, max_connections }, storage }) {
    if (!enabled) return [];
    const { deploymentFiles } = await import('./storage/files.ts');
    const { storedDeployments } = await import('./storage/databases.ts');
    const { url, password_command } = storage;
    const stored = await storedDeployments({ url, password_command, files: deploymentFiles(folder) });
    return stored.map((each) => ({ kind: 'deployment', max_connections, ...each }));
  },
  async files({ deployments: { folder }, storage }) {
    const { sqlitePath } = await import('../../db/engines/sqlite-files.ts');
    // On PostgreSQL, deployments are schemas, which `pg_dump` saves.
    if (sqlitePath(storage.url) === undefined) return undefined;
    const { deploymentData } = await import('./storage/owned-files.ts');
    return deploymentData(folder);
  },
  async loadCommands() {
    const [{ deploy }, { DEPLOYMENT_COMMANDS }, { REPOSITORY_COMMANDS }] = await Promise.all([
      import('./commands/deploy.ts'),
      import('./commands/control.ts'),
      import('./commands/repositories.ts'),
    ]);
    return [deploy, ...DEPLOYMENT_COMMANDS, ...REPOSITORY_COMMANDS];
  },
  async load() {
    const { openContribution } = await import('./contribution.ts');
    return openContribution;
  },
};
