/** The longest of the prefixes that the URL has; `undefined` without any. */
export function prefixOf(prefixes: readonly string[], url: string): string | undefined {
  const found = prefixes.filter((prefix) => hasPrefix(prefix, url));
  return found.sort((a, b) => b.length - a.length)[0];
}

export function hasPrefix(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && /^(?:[/?#]|$)/.test(url.slice(prefix.length));
}

/** The rest of a URL that has the prefix; it begins with a slash. */
export function withoutPrefix(prefix: string, url: string): string {
  const rest = url.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
