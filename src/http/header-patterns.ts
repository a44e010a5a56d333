/** Header name patterns with `*` as wildcard; `excludes` takes precedence over `includes` (contract §3). */
export interface HeaderPatterns {
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Credentials: they must not leak into a run or a log. */
const CREDENTIAL_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-tenant-id',
  'x-service-key',
];

/** Filters headers by pattern. A credential header matches only by its full name, never by a `*`. */
export function headerFilter({
  includes,
  excludes,
}: HeaderPatterns): (headers: Headers) => Record<string, string> {
  const included = includes.map(patternOf);
  const excluded = excludes.map(patternOf);
  const named = new Set(includes.map((name) => name.toLowerCase()));
  const isIncluded = (name: string) =>
    included.some((pattern) => pattern.test(name)) &&
    !excluded.some((pattern) => pattern.test(name)) &&
    (named.has(name) || !CREDENTIAL_HEADERS.includes(name));
  return (headers) =>
    Object.fromEntries(
      Object.entries(headers)
        .filter(([name, value]) => value !== undefined && isIncluded(name))
        .map(([name, value]) => [name, [value].flat().join(', ')]),
    );
}

function patternOf(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 'i');
}
