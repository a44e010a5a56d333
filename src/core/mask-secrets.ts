import { redactCredentials } from './redact.ts';
import { CUT } from './text.ts';

/**
 * Masks the secrets in a text of the log, also one that `truncateText` cut in two. Linear in its length, whatever it holds.
 */
export type MaskSecrets = (text: string) => string;

/** Shorter values of variables are words, such as `none`, and not secrets. */
const MIN_SECRET_LENGTH = 8;
/** Shortest beginning that is masked of a secret that was cut in two: shorter ones occur by chance. */
const MIN_BEGINNING = 4;

/**
 * Tokens of services, by how they begin: OpenAI, Anthropic and Langfuse, LangSmith, GitHub, GitLab, Slack, Hugging Face,
 * Google, AWS, npm, Stripe, Tavily.
 */
const TOKEN =
  /(?<![\w-])(sk-|pk-lf-|[spr]k_live_|lsv2_|gh[opsu]_|github_pat_|glpat-|xox[abeprs]-|hf_|AIza|A[KS]IA|npm_|tvly-)(?:[\w-]{12,}|[\w-]*(?=… \(cut, ))/g;
/** `Authorization: Bearer …`, as a header, as JSON, and as Node prints an object. Also matches what it has masked. */
const AUTHORIZATION =
  /\b((?:proxy-)?authorization[\\"']{0,2}\s{0,3}[:=]\s{0,3}[\\"']{0,2}(?:[a-z-]{1,20}\s{1,3})?)[^\s\\"',;]{3,}/gi;
const BEARER = /\b(bearer\s{1,3})(?:[\w.~+/=-]{8,}|[\w.~+/=-]*(?=… \(cut, ))/gi;
/** `x-api-key: …` and `OPENAI_API_KEY=…`, likewise. */
const API_KEY = /(api[-_]?key[\\"']{0,2}\s{0,3}[:=]\s{0,3}[\\"']{0,2})[^\s\\"',;&]{4,}/gi;
/** A JSON Web Token; its signature is a part of it. */
const JWT = /(?<![\w-])eyJ(?:[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?|[\w-]*(?:\.[\w-]*)?(?=… \(cut, ))/g;

/** Fast path: most fields are ids, and no secret consists only of these characters. */
const ID = /^[\da-f-]*$/;

/** Masks what has the shape of a secret: credentials in URLs, headers, and tokens of known services. */
export function maskSecrets(text: string): string {
  if (ID.test(text)) return text;
  return redactCredentials(text)
    .replace(AUTHORIZATION, '$1***')
    .replace(BEARER, '$1***')
    .replace(API_KEY, '$1***')
    .replace(TOKEN, '$1***')
    .replace(JWT, '***');
}

/**
 * Masks these values, too, wherever they occur: also escaped, and each line by itself, for logs are written by lines. Those
 * that are too short to be secrets are left out.
 */
export function secretMask(values: Iterable<string>): MaskSecrets {
  const forms = [...values].flatMap((value) => [value, ...value.split(/\r?\n/)]).flatMap(withEscapes);
  const secrets = [...new Set(forms)].filter((value) => value.length >= MIN_SECRET_LENGTH);
  // One may begin another: the longest goes first.
  secrets.sort((a, b) => b.length - a.length);
  return (text) => {
    const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
    return maskSecrets(maskBeginnings(masked, secrets));
  };
}

/** As it is, within JSON, within JSON that is a text in JSON, and within an object that Node prints. */
function withEscapes(value: string): string[] {
  const once = inJson(value);
  return [value, once, inJson(once), value.replaceAll('\\', '\\\\')];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Masks the beginning of a secret before each cut. */
function maskBeginnings(text: string, secrets: readonly string[]): string {
  if (!text.includes(CUT)) return text;
  // Anyone can write many cuts into a text: only secrets whose beginning occurs are compared with what precedes each.
  const begun = secrets.filter((secret) => text.includes(beginningOf(secret)));
  if (begun.length === 0) return text;
  const parts = text.split(CUT);
  const last = parts.pop() as string;
  const masked = parts.map((part) => {
    const length = begun.reduce((longest, secret) => Math.max(longest, beginningLength(part, secret)), 0);
    return length === 0 ? part : `${part.slice(0, -length)}***`;
  });
  return [...masked, last].join(CUT);
}

function beginningOf(secret: string): string {
  return secret.slice(0, MIN_BEGINNING);
}

/** Length of the longest beginning of the secret at the end of the text. */
function beginningLength(text: string, secret: string): number {
  const end = text.slice(-(secret.length - 1));
  const beginning = beginningOf(secret);
  for (let at = end.indexOf(beginning); at >= 0; at = end.indexOf(beginning, at + 1))
    if (secret.startsWith(end.slice(at))) return end.length - at;
  return 0;
}
