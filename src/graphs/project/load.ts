import { lstat, realpath, stat } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isErrorLike } from '../../core/failure.ts';
import { withDeadline } from '../../core/timers.ts';
import { isRunnableGraph, type RunnableGraph } from '../runnable.ts';
import { translationOfDecorators } from './decorators.ts';
import { publicReason } from './load-error.ts';
import { withTsconfigPaths } from './tsconfig-paths.ts';

/** Creates a graph for one use (contract §3). */
export type GraphFactory = (config: object, runtime: FactoryRuntime) => unknown;

export interface FactoryRuntime {
  readonly accessContext: string;
  /** Only if the graph is created to be executed. */
  readonly executionRuntime?: { readonly context: unknown };
}

/** A project's export of a graph: the graph, or a factory that creates one for each use. */
export type GraphExport = { readonly graph: RunnableGraph } | { readonly factory: GraphFactory };

const NATIVE = new Set(['.js', '.mjs', '.cjs']);

/** Loads the graph `name` (`default` if empty) from a file of the user's project. Rethrows what the file throws. */
export async function loadGraphExport(file: string, name: string): Promise<GraphExport> {
  const exported = await loadProjectExport(file, name);
  return typeof exported === 'function'
    ? { factory: exported as GraphFactory }
    : { graph: await asGraph(exported) };
}

/** Loads any export of such a file, in the same way. */
async function loadProjectExport(file: string, name: string): Promise<unknown> {
  if (extname(file) === '.py')
    throw new Error(`${file} is written in Python: graphs need TypeScript or JavaScript here`);
  if (!(await stat(file).catch(() => undefined))?.isFile()) throw new Error(`there is no file ${file}`);
  const module = await importFile(file);
  const key = name === '' ? 'default' : name;
  const exported: unknown = await module[key];
  if (exported === undefined) {
    if (key in module)
      throw new Error(
        `the export '${key}' of ${file} is undefined; does ${file} import a file that imports it?`,
      );
    const names = Object.keys(module).filter((each) => each !== '__esModule');
    throw new Error(`${file} has no export '${key}', only: ${names.join(', ') || 'nothing'}`);
  }
  return exported;
}

/**
 * Resolves any form of a graph to one that runs: a promise, an agent that wraps a graph, or an uncompiled graph. By
 * shape only: the project has its own copy of the library (engine §6).
 */
export async function asGraph(candidate: unknown): Promise<RunnableGraph> {
  const value = (await candidate) as Record<string, unknown> | null | undefined;
  if (typeof value === 'object' && value !== null) {
    // LangChain's agents forward `stream` to the graph they wrap, but not a checkpointer.
    if (isRunnableGraph(value.graph)) return value.graph;
    if (isRunnableGraph(value)) return value;
    if (typeof value.compile === 'function') return asGraph(value.compile());
  }
  throw new Error(`expected a graph, got ${value === null ? 'null' : typeof value}`);
}

/**
 * JavaScript is imported natively. TypeScript goes through jiti, with the paths of the nearest tsconfig.json; packages
 * are imported natively from there too, so that both share one copy of LangGraph.
 */
async function importFile(file: string): Promise<Record<string, unknown>> {
  if (NATIVE.has(extname(file))) return import(pathToFileURL(file).href);
  if (/[#?%]/.test(await realpath(file))) escapePathsOfJiti();
  // Imported late: JavaScript does not need it.
  const { createJiti } = await import('jiti');
  const options = { interopDefault: false, jsx: true, transform: translationOfDecorators(createJiti) };
  const translate = (fsCache: string | false) =>
    withTsconfigPaths(file, { ...options, fsCache }, (jiti) => jiti.import(file));
  const cache = await translationCache(file);
  try {
    return (await translate(cache)) as Record<string, unknown>;
  } catch (error) {
    // jiti does without a folder that it cannot write to, but a full disk is an error of the write.
    if (cache === false || !isErrorLike(error) || !('syscall' in error)) throw error;
    return (await translate(false)) as Record<string, unknown>;
  }
}

let escapesPaths = false;

/**
 * jiti imports packages by their paths, and Node takes those for URLs: with `#`, `?` or `%` in a path that fails, and jiti
 * evaluates a copy of the package.
 */
function escapePathsOfJiti(): void {
  if (escapesPaths) return;
  escapesPaths = true;
  registerHooks({
    resolve(specifier, context, next) {
      const isPath = specifier.startsWith('/') && context.parentURL?.endsWith('/jiti/lib/jiti.mjs');
      return next(isPath ? pathToFileURL(specifier).href : specifier, context);
    },
  });
}

/**
 * Folder of the project that keeps translated TypeScript: where it has all files, the compiler, which takes longer to
 * load than most projects, is not loaded. A file whose source has changed is translated anew. False without
 * `node_modules`, and where that is a link: the folder belongs to several projects, or to all users of the machine.
 */
async function translationCache(file: string): Promise<string | false> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const modules = await lstat(join(folder, 'node_modules')).catch(() => undefined);
    if (modules?.isDirectory()) return join(folder, 'node_modules', '.cache', 'agent-server', 'typescript');
    if (modules || folder === dirname(folder)) return false;
  }
}

/** Load time-out of a file, ms: one that hangs must not block the server. */
export const LOAD_TIMEOUT_MS = 60_000;

/**
 * Loads an export of the user's project, given as `path:export`, and converts it with `build`. Throws an `Error` that tells
 * in one line what to change, whether it failed to load or `build` rejects it.
 */
export async function importFromProject<T>(
  spec: string,
  root: string,
  build: (exported: unknown) => T | Promise<T>,
): Promise<T> {
  // The last one: Windows paths contain a colon.
  const colon = spec.lastIndexOf(':');
  try {
    const file = resolve(root, spec.slice(0, colon));
    return await build(await withDeadline(LOAD_TIMEOUT_MS, loadProjectExport(file, spec.slice(colon + 1))));
  } catch (cause) {
    throw new Error(publicReason(cause, root), { cause });
  }
}
