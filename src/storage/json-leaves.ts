import { isObject, toJson } from '../core/json.ts';

/** A plain value in a JSON document: where it is, as SQLite's JSON functions have it, and its JSON text. */
export interface Leaf {
  readonly path: string;
  readonly json: string;
}

/** More comparisons cost as much as one look at the whole. */
const MOST_LEAVES = 4;

/**
 * The plain values of a document that has nothing but these and objects with plain names: then a document contains it
 * that has the same at the same paths. Undefined for any other.
 */
export function leavesOf(document: unknown): Leaf[] | undefined {
  const leaves = isObject(document) ? below('$', document) : undefined;
  return leaves && leaves.length <= MOST_LEAVES ? leaves : undefined;
}

function below(path: string, object: Record<string, unknown>): Leaf[] | undefined {
  const members = Object.entries(object);
  if (members.length === 0) return undefined;
  const leaves = members.map(([name, value]) => leavesAt(path, name, value));
  return leaves.every((each) => each !== undefined) ? leaves.flat() : undefined;
}

function leavesAt(path: string, name: string, value: unknown): Leaf[] | undefined {
  if (!/^[\w-]+$/.test(name) || Array.isArray(value)) return undefined;
  const here = `${path}."${name}"`;
  return isObject(value) ? below(here, value) : [{ path: here, json: toJson(value) }];
}
