import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

/** Looking a module up costs milliseconds, and each resumed run asks for one. */
const modules = new Map<string, Promise<unknown>>();

/**
 * A module of the user's project as seen from `folder`, else the server's own copy. What is exchanged with a graph
 * (commands, messages, schemas) must come from the library the graph was made with (ENGINE §6).
 */
export function userModule<T>(folder: string, specifier: string): Promise<T> {
  const key = `${folder}\n${specifier}`;
  const module = modules.get(key) ?? import(resolveModule(folder, specifier) ?? specifier);
  modules.set(key, module);
  return module as Promise<T>;
}

/**
 * The URL that a file in `folder` would import, by the rules of `import` rather than `require`: they can differ.
 * `as` is what a package may export under the name beside code.
 */
export function resolveModule(folder: string, specifier: string, as?: 'style'): string | undefined {
  const options = { try: true, ...(as && { conditions: [as] }) } as const;
  return createJiti(pathToFileURL(`${folder}/`).href).esmResolve(specifier, options);
}
