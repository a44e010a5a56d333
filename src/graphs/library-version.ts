import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveModule } from './user-module.ts';

/** The version of the LangGraph.js that the graphs in `folder` use; null when there is none. */
export async function langgraphVersion(folder: string): Promise<string | null> {
  const entry = resolveModule(folder, '@langchain/langgraph');
  if (entry === undefined) return null;
  // A package may keep its package.json from being imported, but not from being read.
  for (let at = dirname(fileURLToPath(entry)); at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, 'package.json'), 'utf8').catch(() => undefined);
    const { name, version } = text === undefined ? {} : JSON.parse(text);
    if (name === '@langchain/langgraph') return version;
  }
  return null;
}
