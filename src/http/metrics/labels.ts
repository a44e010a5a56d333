/** Stands for every value beyond the bound of a label. */
const OTHER = 'other';
/** Distinct values of a label whose values come from users, such as the name of a graph. */
const MAX_VALUES = 100;

/** Methods that are labels; Node.js parses about thirty more, which only scanners send. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The label for a request's method: one of the known ones, or `other`. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : OTHER;
}

/**
 * Bounds the values of one label: each value creates time series that stay until the process ends. The first `max`
 * distinct values are returned unchanged, all further ones as `other`.
 */
export function boundedLabel(max = MAX_VALUES): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (!known.has(value) && known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
