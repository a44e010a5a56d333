import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

/** Looking a module up costs milliseconds, and each resumed run asks for one. */
const modules = new Map<string, Promise<unknown>>();

/**
 * A module of the user's project as seen from `folder`, else the server's own copy. What is exchanged with a graph
 * (commands, messages, schemas) must come from the library the graph was made with (ENGINE §6).
 */
export function importUserModule<T>(folder: string, specifier: string): Promise<T> {
  const key = `${folder}\n${specifier}`;
  const module = modules.get(key) ?? import(resolveUserModule(folder, specifier) ?? specifier);
  modules.set(key, module);
  return module as Promise<T>;
}

/**
 * The URL that a file in `folder` would import, by the rules of `import` rather than `require`: they can differ.
 * `as` is what a package may export under the name beside code.
 */
export function resolveUserModule(folder: string, specifier: string, as?: 'style'): string | undefined {
  const options = { try: true, ...(as && { conditions: [as] }) } as const;
  return createJiti(pathToFileURL(`${folder}/`).href).esmResolve(specifier, options);
}

/** The version of the LangGraph.js that the graphs in `folder` use; null when there is none. */
export async function langgraphVersion(folder: string): Promise<string | null> {
  const entry = resolveUserModule(folder, '@langchain/langgraph');
  if (entry === undefined) return null;
  // A package may keep its package.json from being imported, but not from being read.
  for (let at = dirname(fileURLToPath(entry)); at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, 'package.json'), 'utf8').catch(() => undefined);
    const { name, version } = text === undefined ? {} : JSON.parse(text);
    if (name === '@langchain/langgraph') return version;
  }
  return null;
}
