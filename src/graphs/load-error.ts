import { basename, sep } from 'node:path';
import { ServerError } from '../core/errors.ts';
import { failureText, partsOf } from '../core/failure.ts';
import { withoutCredentials } from '../core/redact.ts';
import { missingModule } from './missing-module.ts';

/**
 * A graph that could not be loaded or made. 422, because nothing but a change to the graph helps, and clients repeat a
 * request that is answered with 5xx. What is behind it is the `cause`, for the log of the server only.
 */
export class GraphLoadError extends ServerError {
  readonly status = 422;
}

/** `root` is the project's folder: paths in it are told relative to it, all others by their last part. */
export function loadError(graph_id: string, cause: unknown, root: string): GraphLoadError {
  const text = publicText(cause, root);
  // What is not installed has a place in the project and none that a stack could add.
  const options = missingModule(cause, root) === undefined ? { cause } : {};
  return withoutFrames(new GraphLoadError(`Graph '${graph_id}' failed to load: ${text}`, options));
}

/** The same for whoever asks for the graph later: its cause was logged when it was loaded. */
export function withoutCause({ message }: GraphLoadError): GraphLoadError {
  return withoutFrames(new GraphLoadError(message));
}

/** Where the server noticed it says nothing to anybody. */
function withoutFrames(error: GraphLoadError): GraphLoadError {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

/** Absolute paths, also as file URLs; not the path of a web address. */
const PATH = /(?:file:\/\/)?(?<![\w:/.])(?:[A-Za-z]:)?[\\/](?:[^\s'"`\\/:]+[\\/])+[^\s'"`\\/:]*/g;

/** What a client may read of an error: no path outside of the project and no credentials, on one line. */
export function publicText(cause: unknown, root: string): string {
  const missing = missingModule(cause, root);
  if (missing !== undefined) return missing;
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
