/** What the document says of a value; `$ref`s lead to its components. */
export interface Described {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Described | boolean;
  readonly propertyNames?: Described;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
}

/** Of one field: within the limits of a body, which has 4 MB and 50,000 values. */
const MAX_BYTES = 3_000_000;
const MAX_VALUES = 40_000;

/** Fields of a schema that may be much larger than their example, each with its largest value. */
export function largestFields(
  schema: Described,
  components: Readonly<Record<string, Described>>,
): [field: string, value: unknown][] {
  const resolve = ({ $ref, ...own }: Described): Described =>
    $ref === undefined ? own : resolve(components[$ref.split('/').at(-1) as string] ?? {});

  function largest(described: Described, n: number, bytes: number): unknown {
    const { type, format, enum: choices, const: only, maxLength = 1000, ...rest } = branchOf(described);
    if (only !== undefined) return only;
    if (choices) return choices[n % choices.length];
    if (rest.items) return list(rest.items, Math.min(rest.maxItems ?? 1000, MAX_VALUES), bytes);
    if (type === 'string') return text(format, n, Math.min(maxLength, bytes));
    if (type === 'integer' || type === 'number') return 1 + (n % 10);
    if (type === 'boolean') return true;
    const count = rest.maxProperties ?? 0;
    const more = Object.fromEntries(
      Array.from({ length: count }, (_, m) => [
        `${m}`.padEnd(20, 'k'),
        largest((rest.additionalProperties ?? {}) as Described, m, bytes / count),
      ]),
    );
    const required = Object.entries(rest.properties ?? {}).filter(([name]) => rest.required?.includes(name));
    return {
      ...Object.fromEntries(required.map(([name, each]) => [name, largest(each, n, bytes)])),
      ...more,
    };
  }

  /** As many items as there may be, as large as they may be then. */
  function list(items: Described, count: number, bytes: number): unknown[] {
    const first = JSON.stringify(largest(items, 0, bytes / count));
    const values = first.split(',').length;
    const fitting = Math.floor(Math.min(count, MAX_VALUES / values, bytes / first.length));
    return Array.from({ length: Math.max(1, fitting) }, (_, n) => largest(items, n, bytes / count));
  }

  /** The branch that may be largest. */
  function branchOf(described: Described): Described {
    const whole = resolve(described);
    const branches = [...(whole.anyOf ?? []), ...(whole.oneOf ?? []), ...(whole.allOf ?? [])].map(branchOf);
    return (
      branches.find(({ items }) => items) ??
      branches.find(({ type }) => type === 'string') ??
      branches[0] ??
      whole
    );
  }

  return Object.entries(branchOf(schema).properties ?? {}).flatMap(([field, described]) => {
    const { items, type, maxLength = 0, maxProperties } = branchOf(described);
    const isLarge =
      items !== undefined || maxProperties !== undefined || (type === 'string' && maxLength > 1000);
    return isLarge ? [[field, largest(described, 0, MAX_BYTES)]] : [];
  });
}

function text(format: string | undefined, n: number, length: number): string {
  if (format === 'uuid' || format === 'guid') return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  return `${n}`.padEnd(Math.max(1, Math.floor(length)), 'a').slice(0, Math.max(1, Math.floor(length)));
}
