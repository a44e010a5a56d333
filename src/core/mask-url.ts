/** Long, with letters and digits both: most likely a secret, such as the last part of the address of a chat's hook. */
const SECRET_PART = /^[\w-]{20,}$/;

/**
 * An address for people and logs: without user and password, without what its query parameters say, and without parts
 * of its path that look like a secret. It still tells which receiver is meant.
 */
export function maskUrl(url: string): string {
  const [address = '', query] = withoutFragment(url).split(/\?(.*)/s, 2);
  const masked = address
    .replace(/^(\w+:\/\/)[^/]*@/, '$1***@')
    .split('/')
    .map(maskPart)
    .join('/');
  return query === undefined ? masked : `${masked}?${query.split('&').map(maskParameter).join('&')}`;
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] as string;
}

function maskPart(part: string): string {
  const isMixed = /\d/.test(part) && /[A-Za-z]/.test(part);
  return isMixed && SECRET_PART.test(part) ? `${part.slice(0, 4)}***` : part;
}

function maskParameter(parameter: string): string {
  const name = parameter.split('=', 1)[0] as string;
  return name === parameter ? '***' : `${name}=***`;
}
