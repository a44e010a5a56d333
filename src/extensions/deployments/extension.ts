import type { Extension } from '../extension.ts';
import { data } from './data.ts';

export const deployments: Extension = {
  name: 'deployments',
  isEnabled: (config) => config.deployments.enabled,
  data,
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
