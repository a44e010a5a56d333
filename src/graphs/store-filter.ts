import { BadRequest } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { StoreCondition } from '../storage/store/scope.ts';

const OPERATORS = { $eq: 'eq', $ne: 'ne', $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;

/**
 * The conditions of a search filter: of each field a value to equal, or operators that must all hold (CONTRACT §13).
 * Throws `BadRequest` for an operator that does not exist or has nothing to compare with.
 */
export function storeConditions(filter: Readonly<Record<string, unknown>>): StoreCondition[] {
  return Object.entries(filter).flatMap(([field, wanted]) => {
    if (!isObject(wanted) || !Object.keys(wanted).some((key) => key.startsWith('$'))) {
      return [{ field, is: 'eq', value: wanted } as const];
    }
    return Object.entries(wanted).map(([operator, value]) => condition(field, operator, value));
  });
}

function condition(field: string, operator: string, value: unknown): StoreCondition {
  if (!Object.hasOwn(OPERATORS, operator)) throw new BadRequest(`Unsupported operator: ${operator}`);
  const is = OPERATORS[operator as keyof typeof OPERATORS];
  if (is === 'eq' || is === 'ne') return { field, is, value };
  if (typeof value === 'number' || typeof value === 'string') return { field, is, value };
  throw new BadRequest(`${operator} requires a number or a string.`);
}
