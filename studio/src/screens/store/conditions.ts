import { isObject, typedValue } from '../../api/values.ts';

/** Operators of the store's filters, with their labels. */
export const OPERATORS = [
  ['$eq', 'is'],
  ['$ne', 'is not'],
  ['$gt', '>'],
  ['$gte', '≥'],
  ['$lt', '<'],
  ['$lte', '≤'],
] as const;

export type Operator = (typeof OPERATORS)[number][0];

/** A condition on a field of the value. */
export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly value: unknown;
}

/** Parses the conditions of a JSON filter, as in the address. Invalid ones are ignored. */
export function conditionsIn(filter: string | undefined): Condition[] {
  const { value: given } = typedValue(filter ?? '');
  return Object.entries(isObject(given) ? given : {}).flatMap(([field, wanted]) => {
    const operators = Object.entries(isObject(wanted) ? wanted : {});
    if (operators.length === 0 || !operators.every(([name]) => isOperator(name)))
      return [{ field, operator: '$eq', value: wanted }];
    return operators.map(([name, value]) => ({ field, operator: name as Operator, value }));
  });
}

/** The filter in the API's form: each operator at most once per field. */
export function filterOf(conditions: readonly Condition[]): Record<string, unknown> {
  const filter: Record<string, Record<string, unknown>> = {};
  for (const { field, operator, value } of conditions)
    filter[field] = { ...filter[field], [operator]: value };
  return filter;
}

/** A condition as text. */
export function wordsOf({ field, operator, value }: Condition): string {
  const word = OPERATORS.find(([name]) => name === operator)?.[1];
  return `${field} ${word} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

const isOperator = (name: string): boolean => OPERATORS.some(([known]) => known === name);
