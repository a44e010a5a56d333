import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';

/**
 * A module of the user's project as seen from `folder`, else the server's own copy. What is exchanged with a graph
 * (commands, messages, schemas) must come from the library the graph was made with (ENGINE §6).
 */
export async function userModule<T>(folder: string, specifier: string): Promise<T> {
  const found = createJiti(pathToFileURL(`${folder}/`).href).esmResolve(specifier, { try: true });
  return import(found ?? specifier);
}
