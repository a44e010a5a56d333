import { isObject, typedValue } from '../../api/values.ts';

/** Operators of the store's filters, in words. */
export const OPERATORS = [
  ['$eq', 'is'],
  ['$ne', 'is not'],
  ['$gt', '>'],
  ['$gte', '≥'],
  ['$lt', '<'],
  ['$lte', '≤'],
] as const;

export type Operator = (typeof OPERATORS)[number][0];

/** What a field of a value must be. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly value: unknown;
}

/** The conditions of a filter in JSON, as in the address. What is none is ignored. */
export function conditionsIn(filter: string | undefined): Condition[] {
  const { value: given } = typedValue(filter ?? '');
  return Object.entries(isObject(given) ? given : {}).flatMap(([field, wanted]) => {
    const operators = Object.entries(isObject(wanted) ? wanted : {});
    if (operators.length === 0 || !operators.every(([name]) => isOperator(name)))
      return [{ field, operator: '$eq', value: wanted }];
    return operators.map(([name, value]) => ({ field, operator: name as Operator, value }));
  });
}

/** As the API and the address have them: of one field each operator once. */
export function filterOf(conditions: readonly Condition[]): Record<string, unknown> {
  const filter: Record<string, Record<string, unknown>> = {};
  for (const { field, operator, value } of conditions)
    filter[field] = { ...filter[field], [operator]: value };
  return filter;
}

/** A condition in words. */
export function wordsOf({ field, operator, value }: Condition): string {
  const word = OPERATORS.find(([name]) => name === operator)?.[1];
  return `${field} ${word} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

const isOperator = (name: string): boolean => OPERATORS.some(([known]) => known === name);
