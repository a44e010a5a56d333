import { isObject } from '../core/json.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';

type Scalar = string | number | boolean | null;

/**
 * Parses a filter returned by a handler (contract §10): `k: v`, `{$eq}`, `{$contains}`, `$or`, `$and`. Throws a plain
 * error, a 500 for the client, for anything else: an `undefined` instead of a user name must not become a filter that
 * matches every row.
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
