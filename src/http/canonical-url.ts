const ORIGIN = /^https?:\/\/[^/?#]+/i;
const ENCODED = /%[0-9a-f]{2}/gi;
const MALFORMED = /%(?![0-9a-f]{2})/i;
/** RFC 3986, 2.3. */
const UNRESERVED = /[\w.~-]/;

/**
 * The canonical form of a request target: a path without an origin (RFC 9112, 3.2.2), with unreserved
 * characters decoded (RFC 3986, 6.2.2.2). Everything that compares URLs uses it, because the router accepts all
 * forms. A path that cannot be decoded stays as it is, and the router rejects it: `%%361` must not become
 * `%61`.
 */
export function canonicalUrl(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) return target;
  const url = target.replace(ORIGIN, '');
  const end = url.search(/[?#]|$/);
  const path = url.slice(0, end);
  if (MALFORMED.test(path)) return url;
  return (path === '' ? '/' : path.replace(ENCODED, decodeUnreserved)) + url.slice(end);
}

function decodeUnreserved(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return UNRESERVED.test(character) ? character : encoded;
}
