import { BadRequest, InvalidInput } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { StoreCondition } from '../../storage/store/scope.ts';

/** Limit of a key, and of all labels together, bytes: both are in the primary key, where PostgreSQL allows 2,704. */
const MAX_KEY_BYTES = 1024;
/** Paths per item, and characters per path: each is looked up in the whole value. */
const MAX_PATHS = 100;
const MAX_PATH_LENGTH = 256;

/** Rules for writes (contract §13). Throws `InvalidInput` for an invalid label, otherwise `BadRequest`. */
export function checkNamespace(namespace: readonly unknown[]): asserts namespace is string[] {
  if (namespace.length === 0) throw new BadRequest('Namespace cannot be empty.');
  checkLabels(namespace);
  if (namespace[0] === 'langgraph') throw new BadRequest('Root label for namespace cannot be "langgraph".');
}

/** Rules for the namespace of a single item that is read or deleted. Throws `InvalidInput`. */
export function checkItemNamespace(namespace: readonly unknown[]): asserts namespace is string[] {
  if (namespace.length === 0) throw new InvalidInput('Namespace cannot be empty.');
  checkLabels(namespace);
}

/** Rules for any label; `*` has no special meaning here. */
export function checkLabels(labels: readonly unknown[]): asserts labels is string[] {
  for (const label of labels) {
    if (typeof label !== 'string') throw new InvalidInput('Namespace labels must be strings.');
    if (label === '') throw new InvalidInput('Namespace labels cannot be empty strings.');
    if (label.includes('.')) {
      throw new InvalidInput(`Invalid namespace label "${label}": labels cannot contain periods (".").`);
    }
    if (label.includes('\0')) throw new InvalidInput('Namespace labels cannot contain NUL characters.');
  }
  if (Buffer.byteLength(labels.join('.')) > MAX_KEY_BYTES) {
    throw new InvalidInput(`A namespace cannot be longer than ${MAX_KEY_BYTES} bytes.`);
  }
}

export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new InvalidInput('The key of an item must be a string.');
  if (key.includes('\0')) throw new InvalidInput('The key of an item cannot contain NUL characters.');
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new InvalidInput(`The key of an item cannot be longer than ${MAX_KEY_BYTES} bytes.`);
  }
}

/** Rules for the indexed paths of an item. */
export function checkPaths(paths: false | readonly unknown[] | null | undefined): void {
  if (!Array.isArray(paths)) return;
  if (paths.length > MAX_PATHS) {
    throw new InvalidInput(`The index of an item cannot have more than ${MAX_PATHS} paths.`);
  }
  for (const path of paths) {
    if (typeof path !== 'string') throw new InvalidInput('The paths of an index must be strings.');
    if (path.length > MAX_PATH_LENGTH) {
      throw new InvalidInput(`A path of an index cannot be longer than ${MAX_PATH_LENGTH} characters.`);
    }
  }
}

const OPERATORS = { $eq: 'eq', $ne: 'ne', $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;

/**
 * Conditions of a search filter: per field a value to equal, or operators that must all match (contract §13). Throws
 * `BadRequest` for an unknown operator, or one without a comparable operand.
 */
export function storeConditions(filter: Readonly<Record<string, unknown>>): StoreCondition[] {
  return Object.entries(filter).flatMap(([field, expected]) => {
    if (!isObject(expected) || !Object.keys(expected).some((key) => key.startsWith('$'))) {
      return [{ field, is: 'eq', value: expected } as const];
    }
    return Object.entries(expected).map(([operator, value]) => condition(field, operator, value));
  });
}

function condition(field: string, operator: string, value: unknown): StoreCondition {
  if (!Object.hasOwn(OPERATORS, operator)) throw new BadRequest(`Unsupported operator: ${operator}`);
  const is = OPERATORS[operator as keyof typeof OPERATORS];
  if (is === 'eq' || is === 'ne') return { field, is, value };
  if (typeof value === 'number' || typeof value === 'string') return { field, is, value };
  throw new BadRequest(`${operator} requires a number or a string.`);
}
