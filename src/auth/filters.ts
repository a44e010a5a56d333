import { isObject } from '../core/json.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';

type Scalar = string | number | boolean | null;

/**
 * A filter that a handler returned (CONTRACT §10): `k: v`, `{$eq}`, `{$contains}`, `$or`, `$and`. Throws a plain error,
 * which the client sees as a 500, for anything else: an `undefined` that was meant to be a user's name must not end up
 * as a filter that lets everybody in.
 */
export function parseFilter(filter: unknown): MetadataFilter {
  if (!isObject(filter))
    throw new Error(`An auth handler returned a filter that is not an object: ${typeName(filter)}`);
  return { all: Object.entries(filter).map(([field, wanted]) => member(field, wanted)) };
}

function member(field: string, wanted: unknown): MetadataFilter {
  if (field === '$and') return { all: operands(field, wanted) };
  if (field === '$or') return { any: operands(field, wanted) };
  if (field.startsWith('$')) throw unknownOperator(field);
  if (!isObject(wanted)) return { contains: { [field]: scalar(field, wanted) } };
  const operators = Object.entries(wanted);
  if (operators.length === 0) throw new Error(`An auth handler's filter has no operator for '${field}': {}`);
  return { all: operators.map(([operator, operand]) => condition(field, operator, operand)) };
}

function condition(field: string, operator: string, operand: unknown): MetadataFilter {
  if (operator === '$eq') return { contains: { [field]: scalar(field, operand) } };
  if (operator !== '$contains') throw unknownOperator(operator);
  const values = Array.isArray(operand) ? operand : [operand];
  return { contains: { [field]: values.map((value) => scalar(field, value)) } };
}

function operands(operator: string, wanted: unknown): MetadataFilter[] {
  if (Array.isArray(wanted)) return wanted.map(parseFilter);
  throw new Error(`An auth handler's filter has no list under '${operator}'`);
}

function scalar(field: string, value: unknown): Scalar {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (value === null || isNumber || typeof value === 'string' || typeof value === 'boolean') return value;
  throw new Error(
    `An auth handler's filter compares '${field}' with an unsupported value: ${typeName(value)}`,
  );
}

function unknownOperator(operator: string): Error {
  return new Error(`An auth handler's filter has the unknown operator '${operator}'`);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
