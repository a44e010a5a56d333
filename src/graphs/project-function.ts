import { resolve } from 'node:path';
import { within } from './deadline.ts';
import { loadValue } from './load.ts';
import { publicText } from './load-error.ts';

/** How long a file may take to load; one that hangs must not hold up the server. */
const LIMIT_MS = 60_000;

/** A function of the user's project, given as `path:export`. Throws an `Error` that says in one line what to change. */
export async function loadFunction<T extends (...args: never[]) => unknown>(
  spec: string,
  root: string,
): Promise<T> {
  const at = spec.lastIndexOf(':');
  try {
    const value = await within(LIMIT_MS, loadValue(resolve(root, spec.slice(0, at)), spec.slice(at + 1)));
    if (typeof value !== 'function') throw new Error(`${spec} is a ${typeof value}, not a function`);
    return value as T;
  } catch (cause) {
    throw new Error(publicText(cause, root), { cause });
  }
}
