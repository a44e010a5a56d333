import { loadConfigured } from '../../config/load-configured.ts';
import { sectionOf } from '../../config/section.ts';
import { lazy } from '../../core/lifecycle.ts';
import { loadedInHosts } from '../../hosts/pool/project-code.ts';
import type { Core } from '../extension.ts';
import { type ExtendMcpServer, importRegistration, inThisProcess } from './custom-tools.ts';
import { PROJECT } from './settings.ts';

/** Loads the project's function, in graph hosts if there are any. Throws a one-line error if it is invalid. */
export async function openProjectTools({
  config,
  hosts,
}: Pick<Core, 'config' | 'hosts'>): Promise<ExtendMcpServer | undefined> {
  const { app } = sectionOf(config, PROJECT);
  if (app === undefined) return undefined;
  if (!hosts) {
    return inThisProcess(await loadConfigured(config, 'mcp.app', importRegistration(app, config.root)));
  }
  await loadConfigured(config, 'mcp.app', loadedInHosts(hosts, 'mcp'));
  // Loaded with the first request: the SDK takes 34 MB.
  const remote = lazy(async () => (await import('./hosts/remote-tools.ts')).remoteTools(hosts));
  return async (server, request) => (await remote())(server, request);
}
