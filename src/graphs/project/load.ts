import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import { withDeadline } from '../../core/timers.ts';
import { isRunnableGraph, type RunnableGraph } from '../runnable.ts';
import { publicReason } from './load-error.ts';

/** Makes a graph for one use (CONTRACT §3, last line). */
export type GraphFactory = (config: object, runtime: FactoryRuntime) => unknown;

export interface FactoryRuntime {
  readonly accessContext: string;
  /** Only when the graph is made to be executed. */
  readonly executionRuntime?: { readonly context: unknown };
}

/** What a project exports as a graph: the graph, or what makes one for each use. */
export type GraphExport = { readonly graph: RunnableGraph } | { readonly factory: GraphFactory };

const NATIVE = new Set(['.js', '.mjs', '.cjs']);

/** Loads the graph `name` (`default` when empty) from a file of the user's project. Throws what the file throws. */
export async function loadGraphExport(file: string, name: string): Promise<GraphExport> {
  const exported = await loadProjectExport(file, name);
  return typeof exported === 'function'
    ? { factory: exported as GraphFactory }
    : { graph: await asGraph(exported) };
}

/** Likewise anything else that it exports. */
async function loadProjectExport(file: string, name: string): Promise<unknown> {
  if (!(await stat(file).catch(() => undefined))?.isFile()) throw new Error(`there is no file ${file}`);
  const module = await importFile(file);
  const key = name === '' ? 'default' : name;
  const exported: unknown = await module[key];
  if (exported === undefined) {
    const names = Object.keys(module).filter((each) => each !== '__esModule');
    throw new Error(`${file} has no export '${key}', only: ${names.join(', ') || 'nothing'}`);
  }
  return exported;
}

/**
 * Any form of a graph as one that runs: a promise of one, an agent that holds one, or one that is not compiled yet.
 * By shape only: the project has its own copy of the library (ENGINE §6).
 */
export async function asGraph(candidate: unknown): Promise<RunnableGraph> {
  const value = (await candidate) as Record<string, unknown> | null | undefined;
  if (typeof value === 'object' && value !== null) {
    // LangChain's agents pass `stream` on to the graph they hold, but not a checkpointer.
    if (isRunnableGraph(value.graph)) return value.graph;
    if (isRunnableGraph(value)) return value;
    if (typeof value.compile === 'function') return asGraph(value.compile());
  }
  throw new Error(`expected a graph, got ${value === null ? 'null' : typeof value}`);
}

/**
 * JavaScript is imported as Node does it. TypeScript goes through jiti, with the paths of the nearest tsconfig.json;
 * packages are imported natively from there too, so both share one copy of LangGraph.
 */
async function importFile(file: string): Promise<Record<string, unknown>> {
  if (NATIVE.has(extname(file))) return import(pathToFileURL(file).href);
  // Without its cache on disk, which would be in a folder that all users of the machine can write to.
  const jiti = createJiti(file, { tsconfigPaths: true, interopDefault: false, fsCache: false, jsx: true });
  return jiti.import(file);
}

/** How long a file may take to load; one that hangs must not hold up the server. */
const LOAD_TIMEOUT_MS = 60_000;

/**
 * What the user's project exports, given as `path:export`, made into a part of the server by `make`. Throws an `Error`
 * that says in one line what to change, whether it could not be loaded or `make` refuses it.
 */
export async function importFromProject<T>(
  spec: string,
  root: string,
  build: (exported: unknown) => T | Promise<T>,
): Promise<T> {
  // The last one: Windows has a colon in paths.
  const colon = spec.lastIndexOf(':');
  try {
    const file = resolve(root, spec.slice(0, colon));
    return await build(await withDeadline(LOAD_TIMEOUT_MS, loadProjectExport(file, spec.slice(colon + 1))));
  } catch (cause) {
    throw new Error(publicReason(cause, root), { cause });
  }
}
