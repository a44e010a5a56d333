import { resolve } from 'node:path';
import { within } from './deadline.ts';
import { loadValue } from './load.ts';
import { publicText } from './load-error.ts';

/** How long a file may take to load; one that hangs must not hold up the server. */
const LIMIT_MS = 60_000;

/**
 * What the user's project exports, given as `path:export`, made into a part of the server by `make`. Throws an `Error`
 * that says in one line what to change, whether it could not be loaded or `make` refuses it.
 */
export async function loadProjectValue<T>(
  spec: string,
  root: string,
  make: (exported: unknown) => T | Promise<T>,
): Promise<T> {
  // The last one: Windows has a colon in paths.
  const colon = spec.lastIndexOf(':');
  try {
    const file = resolve(root, spec.slice(0, colon));
    return await make(await within(LIMIT_MS, loadValue(file, spec.slice(colon + 1))));
  } catch (cause) {
    throw new Error(publicText(cause, root), { cause });
  }
}
