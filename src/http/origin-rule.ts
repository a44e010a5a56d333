import { isLocalName } from '../core/loopback.ts';

/** Whether pages of an origin, as browsers write it in `Origin`, may call. */
export type OriginRule = (origin: string) => boolean;

interface NamedOrigins {
  /** `*` stands for all. */
  readonly allow_origins?: readonly string[] | undefined;
  /** Of the whole origin. */
  readonly allow_origin_regex?: string | undefined;
}

/** LangSmith Studio, which people open on servers of their own machine. */
const STUDIO = /^https:\/\/([a-z]+\.)?smith\.langchain\.com$/;

/**
 * The rule of a configuration; undefined where every page may call. Where no origin is named and nobody needs a key, any
 * page that somebody opens could otherwise use the agents of their machine: those of this machine may, of
 * `served_hosts`, and Studio.
 */
export function originRule(
  { allow_origins, allow_origin_regex }: NamedOrigins,
  served_hosts: readonly string[] | undefined,
): OriginRule | undefined {
  const names = new Set(allow_origins);
  if (names.has('*')) return undefined;
  const pattern = allow_origin_regex === undefined ? undefined : new RegExp(`^(?:${allow_origin_regex})$`);
  if (allow_origins || pattern) return (origin) => names.has(origin) || pattern?.test(origin) === true;
  if (!served_hosts) return undefined;
  const hosts = new Set(served_hosts.map((host) => host.toLowerCase()));
  return (origin) => {
    const host = URL.parse(origin)?.hostname ?? '';
    return isLocalName(host) || hosts.has(host) || STUDIO.test(origin);
  };
}

/** Such as no configuration names; told apart by their schemes, as expressions may be. */
const STRANGERS = ['https', 'http'].map((scheme) => `${scheme}://a-page-of-nobody.invalid`);

/** Whether pages of any origin may call, by `*` or by an expression such as `.*`. */
export function letsAnyPage(mayCall: OriginRule | undefined): boolean {
  return !mayCall || STRANGERS.some(mayCall);
}
