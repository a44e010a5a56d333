import { NotFound } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';

/** A configured graph: `path` is relative to the configuration's folder, or absolute. */
export interface GraphSpec {
  readonly graph_id: string;
  readonly path: string;
  /** Empty for the default export. */
  readonly export: string;
  readonly description?: string | null | undefined;
}

/** Contract §1. */
export function unknownGraph(graph_id: string, ids: readonly string[]): NotFound {
  const known = ids.map((id) => `'${id}'`).join(', ');
  return new NotFound(`Graph '${graph_id}' not found. Expected one of: [${known}]`);
}

export interface FailedGraph {
  readonly graph_id: string;
  readonly file: string;
  readonly error: Error;
}

/** Logs a graph that failed to load. */
export function logLoadError(logger: Logger, { graph_id, file, error }: FailedGraph): void {
  logger.error(error.message, { graph_id, file, cause: error.cause });
}
