import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tryOrUndefined } from '../../core/failure.ts';

/** Cached: resolving a module costs milliseconds, and each resumed run requires one. */
const modules = new Map<string, Promise<unknown>>();

/**
 * A module of the user's project as resolved from `folder`, otherwise the server's own copy. Objects exchanged with a
 * graph (commands, messages, schemas) must come from the library that the graph was made with (engine §6).
 */
export function importUserModule<T>(folder: string, specifier: string): Promise<T> {
  const key = `${folder}\n${specifier}`;
  const module = modules.get(key) ?? importFrom(folder, specifier);
  modules.set(key, module);
  return module as Promise<T>;
}

async function importFrom(folder: string, specifier: string): Promise<unknown> {
  return await import((await resolveUserModule(folder, specifier)) ?? specifier);
}

/**
 * The URL to which `import` in a file of `folder` resolves; `require` may resolve to another. `as`: a further export
 * condition, for what is not code.
 */
export async function resolveUserModule(
  folder: string,
  specifier: string,
  as?: 'style',
): Promise<string | undefined> {
  // Imported late: a server whose graphs are in graph hosts does not need it.
  const { createJiti } = await import('jiti');
  const options = { try: true, ...(as && { conditions: [as] }) } as const;
  return createJiti(pathToFileURL(`${folder}/`).href).esmResolve(specifier, options);
}

/** An installed package. */
export interface InstalledPackage {
  readonly version: string;
  readonly folder: string;
}

/** The LangGraph.js that the graphs in `folder` use; `undefined` if it is not installed. */
export async function installedLanggraph(folder: string): Promise<InstalledPackage | undefined> {
  // Throws if there is no such package.
  const file = tryOrUndefined(() => findPackageJSON('@langchain/langgraph', pathToFileURL(`${folder}/`)));
  if (file === undefined) return undefined;
  return { version: JSON.parse(await readFile(file, 'utf8')).version, folder: dirname(file) };
}

/** Its version; null if it is not installed. */
export async function langgraphVersion(folder: string): Promise<string | null> {
  return (await installedLanggraph(folder))?.version ?? null;
}
