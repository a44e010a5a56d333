import { sectionOf } from '../../config/section.ts';
import type { Contribution, Core } from '../extension.ts';
import { mcpPlugin } from './http/routes.ts';
import { openProjectTools } from './project-tools.ts';
import { mcpService } from './service.ts';
import { HTTP } from './settings.ts';

/** Assistants as tools, and what the project registers in addition. */
export async function openMcp(core: Core): Promise<Contribution> {
  const { config, services, storage, graphs, bus, ids } = core;
  const options = sectionOf(config, HTTP);
  const mcp = mcpService({ ...services, graphs, bus, ids, secrets: storage.secrets });
  const extend = await openProjectTools(core);
  return { routes: [mcpPlugin({ ...options, mcp, extend })] };
}
