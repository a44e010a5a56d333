import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../core/logger.ts';
import type { GraphRegistry } from '../graphs/graph.ts';
import type { HostPool } from '../hosts/pool/pool.ts';

export interface GraphsDeps {
  readonly hosts: HostPool | undefined;
  readonly logger: Logger;
  /** Stops the background extraction of graph schemas. */
  readonly end: AbortSignal;
}

/** The configured graphs: loaded in this process, or in graph hosts, which load them in the background. */
export async function openGraphs(config: Config, { hosts, logger, end }: GraphsDeps): Promise<GraphRegistry> {
  const { root, graphs } = config;
  if (hosts) return (await import('../hosts/pool/registry.ts')).remoteGraphs(graphs, hosts, logger);
  // Imported lazily: a server with graph hosts does not execute graphs.
  const { loadGraphs } = await import('../graphs/runtime/load-graphs.ts');
  const { projectWarnings } = await import('../graphs/project/project-warnings.ts');
  for (const warning of await projectWarnings(config)) logger.warn(warning);
  return await loadGraphs(graphs, { root, logger, types: { cache: schemaCache(config), signal: end } });
}

/** Cache folder of the schemas that are read from the types of graphs. */
export function schemaCache(config: Config): string {
  return join(dataFolder(config), 'schemas');
}

/** Folder for data outside the database: that of the SQLite file, else the default one. */
function dataFolder({ storage: { url, folder = '' }, root }: Config): string {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  return file === undefined ? resolve(root, folder, '.agent-server') : dirname(file);
}
