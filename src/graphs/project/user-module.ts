import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

/** Cached: resolving a module costs milliseconds, and each resumed run requires one. */
const modules = new Map<string, Promise<unknown>>();

/**
 * A module of the user's project as resolved from `folder`, otherwise the server's own copy. Objects exchanged with a
 * graph (commands, messages, schemas) must come from the library that the graph was made with (ENGINE §6).
 */
export function importUserModule<T>(folder: string, specifier: string): Promise<T> {
  const key = `${folder}\n${specifier}`;
  const module = modules.get(key) ?? import(resolveUserModule(folder, specifier) ?? specifier);
  modules.set(key, module);
  return module as Promise<T>;
}

/**
 * The URL to which `import` in a file of `folder` resolves; `require` may resolve to another. `as`: a further export
 * condition, for what is not code.
 */
export function resolveUserModule(folder: string, specifier: string, as?: 'style'): string | undefined {
  const options = { try: true, ...(as && { conditions: [as] }) } as const;
  return createJiti(pathToFileURL(`${folder}/`).href).esmResolve(specifier, options);
}

/** Version of the LangGraph.js that the graphs in `folder` use; null if it is not installed. */
export async function langgraphVersion(folder: string): Promise<string | null> {
  const entry = resolveUserModule(folder, '@langchain/langgraph');
  if (entry === undefined) return null;
  // A package may prevent its package.json from being imported, but not from being read.
  for (let at = dirname(fileURLToPath(entry)); at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, 'package.json'), 'utf8').catch(() => undefined);
    const { name, version } = text === undefined ? {} : JSON.parse(text);
    if (name === '@langchain/langgraph') return version;
  }
  return null;
}
