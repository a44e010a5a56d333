/**
 * Why `value` does not match `pattern`, or undefined if it does. A pattern is JSON: the members of an object must be
 * there and match, others may be there too; a list has as many elements. `{"$any": true}` matches everything,
 * `{"$has": text}` a text with it, `{"$json": pattern}` JSON as a text or in UTF-8, `{"$base64": text}` these bytes,
 * `{"$absent": true}` nothing, and `{"$same": name}` what it has matched before.
 */
export function mismatch(
  pattern: unknown,
  value: unknown,
  known: Map<string, unknown>,
  path = 'message',
): string | undefined {
  if (isPlain(pattern)) {
    const [operator = '', operand] = Object.entries(pattern)[0] ?? [];
    if (operator.startsWith('$')) return mismatchOf(operator, operand, { value, known, path });
    if (!isPlain(value)) return `${path} is ${JSON.stringify(value)}, not an object`;
    return firstOf(Object.keys(pattern), (key) =>
      mismatch(pattern[key], value[key], known, `${path}.${key}`),
    );
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length)
      return `${path} is ${JSON.stringify(value)}, not a list of ${pattern.length}`;
    return firstOf([...pattern.keys()], (index) =>
      mismatch(pattern[index], value[index], known, `${path}.${index}`),
    );
  }
  return value === pattern
    ? undefined
    : `${path} is ${JSON.stringify(value)}, not ${JSON.stringify(pattern)}`;
}

interface Place {
  readonly value: unknown;
  readonly known: Map<string, unknown>;
  readonly path: string;
}

function mismatchOf(operator: string, operand: unknown, { value, known, path }: Place): string | undefined {
  const is = (found: boolean) => (found ? undefined : `${path} is ${JSON.stringify(value)}, not ${operand}`);
  switch (operator) {
    case '$any':
      return value === undefined ? `${path} is missing` : undefined;
    case '$absent':
      return value === undefined ? undefined : `${path} is ${JSON.stringify(value)}`;
    case '$has':
      return is(typeof value === 'string' && value.includes(String(operand)));
    case '$base64':
      return is(Buffer.isBuffer(value) && value.toString('base64') === operand);
    case '$json':
      if (typeof value !== 'string' && !Buffer.isBuffer(value))
        return `${path} is ${JSON.stringify(value)}, not JSON`;
      return mismatch(operand, JSON.parse(value.toString()), known, `${path} as JSON`);
    case '$same': {
      const name = String(operand);
      if (!known.has(name)) known.set(name, value);
      return is(value !== undefined && known.get(name) === value);
    }
    default:
      return `${operator} is no operator of patterns`;
  }
}

function firstOf<T>(all: readonly T[], find: (each: T) => string | undefined): string | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}
