import { readFileSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServerError } from '../../core/errors.ts';
import { errorParts, failureText, isErrorLike, tryOrUndefined } from '../../core/failure.ts';
import { redactCredentials } from '../../core/redact.ts';

/**
 * A graph that could not be loaded or created. 422, because only a change to the graph helps, and clients retry after
 * 5xx. The reason is the `cause`, for the server's log only.
 */
export class GraphLoadError extends ServerError {
  readonly status = 422;
}

/** `root`: the project's folder. Paths in it are reported relative to it, all others by their last segment. */
export function loadError(graph_id: string, cause: unknown, root: string): GraphLoadError {
  const text = publicReason(cause, root);
  // The message of a missing module has its location, and a stack would add none.
  const options = missingModule(cause, root) === undefined ? { cause } : {};
  return withoutStack(new GraphLoadError(`Graph '${graph_id}' failed to load: ${text}`, options));
}

/** A stack of the server's own code does not help the reader. */
function withoutStack(error: GraphLoadError): GraphLoadError {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}

/** Absolute paths, also as file URLs; not the path of a web URL. */
const ABSOLUTE_PATH = /(?:file:\/\/)?(?<![\w:/.])(?:[A-Za-z]:)?[\\/](?:[^\s'"`\\/:]+[\\/])+[^\s'"`\\/:]*/g;

/** Error text that a client may read: no path outside of the project, no credentials, on one line. */
export function publicReason(cause: unknown, root: string): string {
  const missing = missingModule(cause, root);
  if (missing !== undefined) return missing;
  // Node appends the require stack, LangGraph a link to its documentation.
  const [reason = ''] = errorParts(cause).message.split(/\n(?:Require stack|\nTroubleshooting URL):/, 1);
  return failureText(reason, undefined, (text) => relativeToRoot(redactCredentials(text), root));
}

function relativeToRoot(text: string, root: string): string {
  const prefix = `${root}${sep}`;
  return text
    .replaceAll(`file://${prefix}`, './')
    .replaceAll(prefix, './')
    .replace(ABSOLUTE_PATH, (path) => basename(path))
    .replace(/\s+/g, ' ')
    .trim();
}

/** Node's message, for `require` and for `import`; the latter also names the importing file. */
const MISSING = /^Cannot find (?:module|package) '([^']+)'(?: imported from (.+))?/;
const PACKAGE = /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*/;

/** Location of a failed import, and what to do; `undefined` for any other error. */
function missingModule(error: unknown, root: string): string | undefined {
  if (!isErrorLike(error)) return undefined;
  const { code, requireStack } = error as { code?: unknown; requireStack?: unknown };
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, specifier, importer] = MISSING.exec(error.message) ?? [];
  const file = Array.isArray(requireStack) ? requireStack[0] : importer;
  if (specifier === undefined || typeof file !== 'string') return undefined;
  const place = importLocation(file, specifier, root);
  return place && `${place} imports '${displayPath(specifier, root)}', ${hint(specifier)}`;
}

function hint(specifier: string): string {
  if (isPath(specifier)) return 'and there is no such file';
  const [name] = PACKAGE.exec(specifier) ?? [];
  // An alias such as `@/tools`.
  if (name === undefined) return 'which is neither a package nor in the paths of tsconfig.json';
  return `which is not installed: npm install ${name}`;
}

function isPath(specifier: string): boolean {
  return /^(?:\.|\/|file:|[A-Za-z]:[\\/])/.test(specifier);
}

/** Node makes paths absolute in its messages about `import`. */
function displayPath(specifier: string, root: string): string {
  return specifier.startsWith(`${root}/`) ? relative(root, specifier) : specifier;
}

/** `src/agent.ts:3`; `undefined` for a file outside of the project, which is not disclosed. */
function importLocation(importer: string, specifier: string, root: string): string | undefined {
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const path = relative(root, file);
  if (path.startsWith('..')) return undefined;
  const name = specifier.split('/').at(-1) as string;
  const lines = tryOrUndefined(() => readFileSync(file, 'utf8').split('\n')) ?? [];
  const line = lines.findIndex((text) => /\b(?:import|from|require)\b/.test(text) && text.includes(name));
  return line < 0 ? path : `${path}:${line + 1}`;
}
