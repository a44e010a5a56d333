import { sectionOf } from '../../config/section.ts';
import type { Extension } from '../extension.ts';
import { DISABLED, HTTP, PROJECT } from './settings.ts';

export const mcp: Extension = {
  name: 'mcp',
  sections: [DISABLED, HTTP, PROJECT],
  isEnabled: (config) => !sectionOf(config, DISABLED),
  projectCode(config) {
    const { app } = sectionOf(config, PROJECT);
    if (app === undefined) return [];
    const load = async () => (await import('./custom-tools.ts')).importRegistration(app, config.root);
    return [{ name: 'mcp.app', file: app, needs_restart: true, load }];
  },
  givenToHosts: (config) => sectionOf(config, PROJECT).app,
  async loadInHost() {
    const { mcpInHost } = await import('./hosts/in-host.ts');
    return mcpInHost;
  },
  async load() {
    const { openMcp } = await import('./mcp.ts');
    return openMcp;
  },
};
