import { CUT } from './text.ts';

/**
 * Redacts an error text: credentials in URLs, and the location of files on this machine. Each expression is linear,
 * also over all its matches: the text may come from a client.
 */
export function redact(text: string): string {
  return redactPaths(redactCredentials(text));
}

/** Text without characters that no URL contains. */
const WORD = /[^\s"<>`]+/g;
/** Query parameters in which databases and services take a secret. */
const SECRET_PARAMETER =
  /([?&;](?:(?:ssl)?password|passwd|pwd|secret|access_token|api_?key)=)[^\s&;"'<>`]+/gi;

/** Masks credentials in URLs, such as those in the messages of a database driver. */
export function redactCredentials(text: string): string {
  if (!text.includes('://')) return text;
  const masked = text.replace(WORD, (word, offset: number) => {
    const isCut = word.endsWith('…') && text.startsWith(CUT, offset + word.length - 1);
    return word.includes('://') ? maskWord(word, isCut) : word;
  });
  return masked.replace(SECRET_PARAMETER, '$1***');
}

/** `isCut`: the word may continue, and contain the `@` that makes its beginning a secret. */
function maskWord(word: string, isCut: boolean): string {
  const parts = word.split('://');
  return parts
    .map((part, index) => {
      const before = parts[index - 1] ?? '';
      // A file URL has no userinfo, and package paths contain `@`.
      if (index === 0 || (index === 1 && isFile(before, part))) return part;
      const isOpen = isCut && index === parts.length - 1 && mayBeUser(part, isWeb(before));
      return isOpen ? '***…' : maskUser(part, isWeb(before));
    })
    .join('://');
}

function isFile(before: string, part: string): boolean {
  return /^[^a-z0-9]*file$/i.test(before.slice(0, 100)) && /^\/[^/]/.test(part);
}

function isWeb(before: string): boolean {
  return /(?:http|ws)s?$/i.test(before.slice(-5));
}

function maskUser(address: string, isWebAddress: boolean): string {
  const end = endOfUser(address, isWebAddress);
  return end < 0 ? address : `***${address.slice(end)}`;
}

/** User and password, or the beginning of a host with a colon that does not start a port. */
const USER_AND_PASSWORD = /^[^/?#@:[\]]*:(?!\d{1,5}(?:[^\d@]|$))/;

/** Whether an `@` after the address could end its userinfo. */
function mayBeUser(address: string, isWebAddress: boolean): boolean {
  return !isWebAddress || USER_AND_PASSWORD.test(address) || !/[/?#]/.test(address);
}

/**
 * Index of the `@` that ends the userinfo, −1 without one. Passwords are often not encoded: after a user and a colon it
 * is the last `@`. A web path may contain an `@`; in other URLs, masking the secret matters more than the path.
 */
function endOfUser(address: string, isWebAddress: boolean): number {
  const last = address.lastIndexOf('@');
  if (!isWebAddress || USER_AND_PASSWORD.test(address)) return last;
  const slash = address.search(/[/?#]/);
  return slash < 0 ? last : address.lastIndexOf('@', slash);
}

/** A quoted path, which may contain spaces. */
const QUOTED_PATH = /(?<=['"`])(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^'"`\r\n]*(?=['"`])/g;
/** An unquoted path: it starts after, and ends before, a character that no path contains. */
const PATH =
  /(?<![^\s'"`()[\]{}<>,;:=|])(?:file:\/\/(?:\/(?=[A-Za-z]:))?)?(?:\/(?:[^\s'"`()[\]{}<>,;:=|\\/]+\/+){2,}|[A-Za-z]:[\\/]+(?:[^\s'"`()[\]{}<>,;:=|\\/]+[\\/]+)+)[^\s'"`()[\]{}<>,;:=|\\/]*/g;
/** With a drive, or below two folders: `/a/b` may be a request path. */
const DEEP = /^(?:file:\/\/\/?)?(?:[A-Za-z]:|[\\/]?[^\\/]+[\\/]+[^\\/]+[\\/])/;

/** Shortens absolute paths to their last segment: enough to find the file, without disclosing the machine's layout. */
function redactPaths(text: string): string {
  return text
    .replace(QUOTED_PATH, (path) => (DEEP.test(path) ? lastPart(path) : path))
    .replace(PATH, lastPart);
}

function lastPart(path: string): string {
  let end = path.length;
  while (isSeparator(path[end - 1])) end -= 1;
  let start = end;
  while (start > 0 && !isSeparator(path[start - 1])) start -= 1;
  return path.slice(start, end);
}

function isSeparator(character: string | undefined): boolean {
  return character === '/' || character === '\\';
}

/** Long, with letters and digits: most likely a secret, such as the last segment of a chat webhook's URL. */
const SECRET_PART = /^[\w-]{20,}$/;

/**
 * A URL for users and logs: masks the userinfo, query values and path segments that look like a secret. The receiver
 * remains recognisable.
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
