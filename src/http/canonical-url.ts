const ORIGIN = /^https?:\/\/[^/?#]+/i;
const ENCODED = /%[0-9a-f]{2}/gi;
const MALFORMED = /%(?![0-9a-f]{2})/i;
/** RFC 3986, 2.3. */
const UNRESERVED = /[\w.~-]/;

/**
 * A request target in the one form that everything compares: a path without an origin (RFC 9112, 3.2.2), with unreserved
 * characters decoded (RFC 3986, 6.2.2.2). The router accepts the other forms as well. A path that cannot be decoded, which
 * it refuses, stays as it is: `%%361` must not become `%61`.
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
