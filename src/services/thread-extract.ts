import { isObject } from '../core/json.ts';
import type { Thread } from '../schemas/threads.ts';

/** A name, or an index in square brackets. */
const STEP = /(?:^|\.)([^.[\]]+)|\[(-?\d+)\]/g;

/**
 * The values at paths such as `values.log[-1]` or `values.a.b[0].k`, by alias; null where nothing is, and for
 * wildcards and slices (CONTRACT §2.2).
 */
export function extract(thread: Thread, paths: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => [alias, at(thread, path)]));
}

/** True when one of the paths starts in the thread's values, which are read only on request. */
export function extractsValues(paths: Record<string, string> | undefined): boolean {
  return Object.values(paths ?? {}).some((path) => path.startsWith('values'));
}

function at(thread: Thread, path: string): unknown {
  const steps = stepsOf(path);
  if (!steps) return null;
  return steps.reduce<unknown>(into, thread) ?? null;
}

function stepsOf(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let end = 0;
  for (const match of path.matchAll(STEP)) {
    if (match.index !== end) return undefined;
    end += match[0].length;
    steps.push(match[1] ?? Number(match[2]));
  }
  return end === path.length ? steps : undefined;
}

/** Own keys only: a path must not reach `constructor` and its like. */
function into(value: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
