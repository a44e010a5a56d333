import { basename, sep } from 'node:path';
import { ServerError } from '../core/errors.ts';
import { failureText, partsOf } from '../core/failure.ts';
import { withoutCredentials } from '../core/redact.ts';

/**
 * A graph that could not be loaded or made. 422, because nothing but a change to the graph helps, and clients repeat a
 * request that is answered with 5xx. What is behind it is the `cause`, for the log of the server only.
 */
export class GraphLoadError extends ServerError {
  readonly status = 422;
}

/** `root` is the project's folder: paths in it are told relative to it, all others by their last part. */
export function loadError(graph_id: string, cause: unknown, root: string): GraphLoadError {
  return new GraphLoadError(`Graph '${graph_id}' failed to load: ${publicText(cause, root)}`, { cause });
}

/** Absolute paths, also as file URLs; not the path of a web address. */
const PATH = /(?:file:\/\/)?(?<![\w:/.])(?:[A-Za-z]:)?[\\/](?:[^\s'"`\\/:]+[\\/])+[^\s'"`\\/:]*/g;

/** What a client may read of an error: no path outside of the project and no credentials, on one line. */
export function publicText(cause: unknown, root: string): string {
  // Node adds where it was required from, LangGraph a link to its own documentation.
  const [told = ''] = partsOf(cause).message.split(/\n(?:Require stack|\nTroubleshooting URL):/, 1);
  return failureText(told, undefined, (text) => fromRoot(withoutCredentials(text), root));
}

function fromRoot(text: string, root: string): string {
  const inside = `${root}${sep}`;
  return text
    .replaceAll(`file://${inside}`, './')
    .replaceAll(inside, './')
    .replace(PATH, (path) => basename(path))
    .replace(/\s+/g, ' ')
    .trim();
}
