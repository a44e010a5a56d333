import type { Extension } from '../extension.ts';
import { data } from './data.ts';
import {
  DEPLOYMENTS,
  deploymentProblems,
  deploymentSettings,
  enablesDeployments,
  VARIABLES,
} from './section.ts';

export const deployments: Extension = {
  name: 'deployments',
  sections: [DEPLOYMENTS],
  variables: VARIABLES,
  checkTogether: deploymentProblems,
  servesWithoutGraphs: enablesDeployments,
  isEnabled: enablesDeployments,
  readyFields(config) {
    const { root } = deploymentSettings(config);
    return root === undefined ? {} : { root_deployment: root };
  },
  data,
  async databases(config) {
    const { enabled, folder, max_connections } = deploymentSettings(config);
    if (!enabled) return [];
    const { deploymentFiles } = await import('./storage/files.ts');
    const { storedDeployments } = await import('./storage/databases.ts');
    const { url, password_command } = config.storage;
    const stored = await storedDeployments({ url, password_command, files: deploymentFiles(folder) });
    return stored.map((each) => ({ kind: 'deployment', max_connections, ...each }));
  },
  async files(config) {
    const { sqlitePath } = await import('../../db/engines/sqlite-files.ts');
    // On PostgreSQL, deployments are schemas, which `pg_dump` saves.
    if (sqlitePath(config.storage.url) === undefined) return undefined;
    const { deploymentData } = await import('./storage/owned-files.ts');
    return deploymentData(deploymentSettings(config).folder);
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
