import type { Config } from '../../config/schema.ts';
import { sectionOf } from '../../config/section.ts';
import type { Extension } from '../extension.ts';
import { BUNDLES, COMPONENTS, DISABLED, VARIABLES } from './settings.ts';

export const generativeUi: Extension = {
  name: 'generative-ui',
  sections: [DISABLED, COMPONENTS, BUNDLES],
  variables: VARIABLES,
  isEnabled: (config) => !sectionOf(config, DISABLED),
  projectCode(config) {
    const { shared } = sectionOf(config, BUNDLES);
    return componentFiles(config).map(([name, path]) => ({
      name: `ui ${name}`,
      file: path,
      needs_restart: false,
      load: async () => (await import('./bundle.ts')).bundleUi({ name, path, root: config.root, shared }),
    }));
  },
  givenToHosts: (config) => (componentFiles(config).length > 0 ? {} : undefined),
  async loadInHost() {
    const { bundlerInHost } = await import('./hosts/in-host.ts');
    return bundlerInHost;
  },
  async load() {
    const { openGenerativeUi } = await import('./generative-ui.ts');
    return openGenerativeUi;
  },
};

function componentFiles(config: Config): [name: string, path: string][] {
  return Object.entries(sectionOf(config, COMPONENTS) ?? {});
}
