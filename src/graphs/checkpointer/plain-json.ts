import { tryOrUndefined } from '../../core/failure.ts';

/** Deeper data, or a circle, is left to the serialiser. */
const MAX_DEPTH = 20;

/**
 * JSON text of plain data, which LangGraph's serialiser writes as `JSON.stringify` does, at several times the cost: most
 * values of a step are a number, a text or null. `undefined` for anything that it may write otherwise, or reject.
 */
export function plainJson(value: unknown): string | undefined {
  return isPlain(value, 0) ? tryOrUndefined(() => JSON.stringify(value)) : undefined;
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object') return PRIMITIVES.has(typeof value);
  if (value === null) return true;
  if (depth === MAX_DEPTH) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return areAllPlain(value as unknown[], depth + 1);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return !('lc' in value || 'lg_name' in value) && areAllPlain(Object.values(value), depth + 1);
}

const PRIMITIVES: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);

function areAllPlain(values: readonly unknown[], depth: number): boolean {
  // Gaps of an array count: the serialiser writes each as what stands for `undefined`.
  for (const value of values) if (!isPlain(value, depth)) return false;
  return true;
}
