/**
 * Takes out of an error's text what its readers must not learn: credentials in addresses, and where files are on this
 * machine. Each expression is linear, also over all its matches: the text may be what a client sent.
 */
export function redact(text: string): string {
  return redactPaths(redactCredentials(text));
}

/** Text up to what can be in no address. */
const WORD = /[^\s"<>`]+/g;
/** Parameters with which databases and services take a secret. */
const SECRET_PARAMETER = /([?&;](?:password|passwd|pwd|secret|access_token|api_?key)=)[^\s&;"'<>`]+/gi;

/** The text without the users and passwords of its addresses, such as a database driver puts into its messages. */
export function redactCredentials(text: string): string {
  if (!text.includes('://')) return text;
  const masked = text.replace(WORD, (word) => (word.includes('://') ? maskWord(word) : word));
  return masked.replace(SECRET_PARAMETER, '$1***');
}

function maskWord(word: string): string {
  const parts = word.split('://');
  return parts
    .map((part, index) => {
      const before = parts[index - 1] ?? '';
      // A file has no user, and packages have an `@` in their path.
      return index === 0 || (index === 1 && isFile(before, part)) ? part : maskUser(part, isWeb(before));
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

/** A user and a password, or the beginning of a name that has a colon which is not that of a port. */
const USER_AND_PASSWORD = /^[^/?#@:[\]]*:(?!\d{1,5}(?:[^\d@]|$))/;

/**
 * Where the `@` is that ends user and password, −1 without one. Passwords are often not encoded: behind a user and a
 * colon it is the last one. A path of the web may have an `@` of its own; elsewhere it is worth less than the secret.
 */
function endOfUser(address: string, isWebAddress: boolean): number {
  const last = address.lastIndexOf('@');
  if (!isWebAddress || USER_AND_PASSWORD.test(address)) return last;
  const slash = address.search(/[/?#]/);
  return slash < 0 ? last : address.lastIndexOf('@', slash);
}

/** A path in quotes, which may have spaces. */
const QUOTED_PATH = /(?<=['"`])(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^'"`\r\n]*(?=['"`])/g;
/** One that begins behind a character which no path has, and ends before the next. */
const PATH =
  /(?<![^\s'"`()[\]{}<>,;:=|])(?:file:\/\/(?:\/(?=[A-Za-z]:))?)?(?:\/(?:[^\s'"`()[\]{}<>,;:=|\\/]+\/+){2,}|[A-Za-z]:[\\/]+(?:[^\s'"`()[\]{}<>,;:=|\\/]+[\\/]+)+)[^\s'"`()[\]{}<>,;:=|\\/]*/g;
/** With a drive, or below two folders: `/a/b` may as well be the path of a request. */
const DEEP = /^(?:file:\/\/\/?)?(?:[A-Za-z]:|[\\/]?[^\\/]+[\\/]+[^\\/]+[\\/])/;

/** Absolute paths by their last part: enough to find the file, and silent on the machine. */
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
