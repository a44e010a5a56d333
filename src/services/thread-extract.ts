import { isObject } from '../core/json.ts';
import type { Thread } from '../schemas/threads.ts';
import type { ValuePath } from '../storage/threads/extract.ts';

/** A name, or an index in square brackets. */
const STEP = /(?:^|\.)([^.[\]]+)|\[(-?\d+)\]/g;

/**
 * The values at paths such as `values.log[-1]` or `values.a.b[0].k`, by alias; null where nothing is, and for
 * wildcards and slices (CONTRACT §2.2).
 */
export function extract(thread: Thread, paths: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => [alias, at(thread, path)]));
}

/**
 * The ways into the values that storage can go, by alias, so that a state need not be read whole. Undefined when one of
 * the paths asks for the whole of it.
 */
export function valuePaths(paths: Record<string, string>): Record<string, ValuePath> | undefined {
  const ways: Record<string, ValuePath> = {};
  for (const [alias, path] of Object.entries(paths)) {
    const [field, ...way] = stepsOf(path) ?? [];
    if (field !== 'values') continue;
    if (way.length === 0) return undefined;
    if (way.every(isReachable)) ways[alias] = way;
  }
  return ways;
}

/** No list is longer, and PostgreSQL does not count further. */
function isReachable(step: string | number): boolean {
  return typeof step === 'string' || Math.abs(step) < 2 ** 31;
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
