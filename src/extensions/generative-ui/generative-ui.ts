import { sectionOf } from '../../config/section.ts';
import type { Contribution, Core } from '../extension.ts';
import { bundleUi } from './bundle.ts';
import { uiBundles } from './bundle-cache.ts';
import { remoteBundler } from './hosts/remote-bundler.ts';
import { uiRoutes } from './routes.ts';
import { uiService } from './service.ts';
import { BUNDLES, COMPONENTS } from './settings.ts';

/** Bundles of the project's components, made in its hosts if there are any. */
export function openGenerativeUi({ config, services, hosts, clock, logger }: Core): Contribution {
  const bundles = uiBundles({
    paths: sectionOf(config, COMPONENTS) ?? {},
    shared: sectionOf(config, BUNDLES).shared,
    bundleUi: hosts ? remoteBundler(hosts) : bundleUi,
    ...{ root: config.root, clock, logger },
  });
  const ui = uiService(bundles, services.assistants);
  return { routes: [(server, { mount_prefix }) => uiRoutes(server, { ui, mount_prefix })] };
}
