import { isObject } from '../../core/json.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { ValuePath } from '../../storage/threads/extract.ts';

/** A name, or an index in square brackets. */
const STEP = /(?:^|\.)([^.[\]]+)|\[(-?\d+)\]/g;

/** Parsed paths by alias; `undefined` for wildcards and slices, which have no value (contract §2.2). */
export type ExtractPaths = Readonly<Record<string, ValuePath | undefined>>;

/** Parses paths such as `values.log[-1]` or `values.a.b[0].k`: once, and not for each thread. */
export function parsePaths(paths: Readonly<Record<string, string>>): ExtractPaths {
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => [alias, parsePath(path)]));
}

/** The values at the paths, by alias; `null` for a missing value. */
export function extract(thread: Thread, paths: ExtractPaths): Record<string, unknown> {
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => [alias, valueAt(thread, path)]));
}

/**
 * Paths into `values` that storage can evaluate, by alias, to avoid reading whole states. `undefined` if a path selects
 * all of `values`.
 */
export function valuePaths(paths: ExtractPaths): Record<string, ValuePath> | undefined {
  const result: Record<string, ValuePath> = {};
  for (const [alias, path = []] of Object.entries(paths)) {
    const [field, ...segments] = path;
    if (field !== 'values') continue;
    if (segments.length === 0) return undefined;
    if (segments.every(isReachable)) result[alias] = segments;
  }
  return result;
}

/** List indexes stay below 2³¹, the limit of PostgreSQL's `integer`. */
function isReachable(step: string | number): boolean {
  return typeof step === 'string' || Math.abs(step) < 2 ** 31;
}

function valueAt(thread: Thread, path: ValuePath | undefined): unknown {
  return path?.reduce<unknown>(descend, thread) ?? null;
}

function parsePath(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let end = 0;
  for (const match of path.matchAll(STEP)) {
    if (match.index !== end) return undefined;
    end += match[0].length;
    steps.push(match[1] ?? Number(match[2]));
  }
  return end === path.length ? steps : undefined;
}

/** Own keys only: a path must not reach `constructor` and other inherited names. */
function descend(value: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
