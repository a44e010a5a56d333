import { isIP } from 'node:net';
import { InvalidInput } from '../core/errors.ts';
import { type AddressRange, isWithin, type Network, parseNetwork, rangeOf } from './address-range.ts';

/** Which addresses the server may call for a client: the keys of `webhooks.url` (CONTRACT §6). */
export interface WebhookRules {
  /** `unless opened`: plain http is for hosts that the configuration opens, which seldom have certificates. */
  readonly https: 'always' | 'unless opened' | 'never';
  /** Exact, or `*.example.com` for what is below it; without any, all. */
  readonly allowed_domains: readonly string[];
  /** Without any, all. */
  readonly allowed_ports: readonly number[];
  readonly max_url_length: number;
  /** Refuses this machine and the server's own routes. */
  readonly disable_loopback: boolean;
  /** What is called although it is not on the public internet: networks, addresses, host names. */
  readonly allow_private: readonly string[];
  /** The server has routes of its own that a webhook may name by their path. */
  readonly has_own_routes: boolean;
}

/** The addresses of a host; throws with the code of `dns.lookup`. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface WebhookPolicy {
  /** Throws `InvalidInput` that names the rule which the address breaks. Asks the name service, for a while. */
  check(url: string): Promise<void>;
  /** The same by what the text alone tells, for when it is called. */
  checkText(url: string): void;
  /** Why a host must not be called at an address that it resolved to; undefined when it may be. */
  refusal(hostname: string, address: string): string | undefined;
}

const MACHINE_ITSELF =
  /^(localhost|.*\.localhost|localhost\.localdomain|ip6-(localhost|loopback)|(host|gateway)\.docker\.internal)$/;
const METADATA_NAMES =
  /^(metadata|metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/;
/** Names that no name service has (RFC 6761). */
const NOWHERE = /(^|\.)invalid$/;
/** A name service that takes longer must not hold up the run; the address is checked again when it is called. */
const PATIENCE_MS = 2000;

const OPEN_LOOPBACK = 'The configuration of the server can open it: webhooks.url.disable_loopback: false.';
const OPEN_PRIVATE = 'The configuration of the server can open it: webhooks.url.allow_private.';

export function webhookPolicy(rules: WebhookRules, resolve: Resolve): WebhookPolicy {
  const networks = rules.allow_private.map(parseNetwork).filter((network) => network !== undefined);
  const named = rules.allow_private.filter((entry) => parseNetwork(entry) === undefined);
  const opens = hostOpener(rules, networks, named);

  const policy: WebhookPolicy = {
    async check(url) {
      policy.checkText(url);
      if (url.startsWith('/')) return;
      const { hostname } = parse(url);
      if (isIP(bare(hostname)) === 0) await checkName(hostname, policy.refusal, resolve);
    },

    checkText(url) {
      if (url.length > rules.max_url_length) {
        throw new InvalidInput(`Webhook URL is longer than ${rules.max_url_length} characters`);
      }
      if (/^\/(?![/\\])/.test(url)) checkOwnRoute(rules);
      else checkTarget(parse(url), rules, policy.refusal, opens);
    },

    refusal(hostname, address) {
      const range = rangeOf(address);
      if (range === undefined || isWithin(address, networks)) return undefined;
      const isLoopback = range === 'loopback' && (isIP(address) === 4 || MACHINE_ITSELF.test(hostname));
      if (isLoopback && !rules.disable_loopback) return undefined;
      if ((range === 'private' || range === 'loopback') && matches(hostname, named)) return undefined;
      return blocked(range, hostname, address);
    },
  };
  return policy;
}

/** True for a host that the configuration opens by its name or its literal address. */
function hostOpener(rules: WebhookRules, networks: readonly Network[], named: readonly string[]) {
  return (hostname: string) =>
    matches(hostname, named) ||
    isWithin(bare(hostname), networks) ||
    (!rules.disable_loopback &&
      (MACHINE_ITSELF.test(hostname) || (isIP(hostname) === 4 && hostname.startsWith('127.'))));
}

function checkOwnRoute({ disable_loopback, has_own_routes }: WebhookRules): void {
  if (disable_loopback) {
    const text = 'Loopback webhooks (relative URLs and localhost) are disabled by default.';
    throw new InvalidInput(`${text} ${OPEN_LOOPBACK}`);
  }
  if (!has_own_routes) {
    throw new InvalidInput('Webhook is a path, but the server has no routes of its own: http.app is not set');
  }
}

/** By the parser that the request is made with: what it makes of odd forms of an address is what is checked. */
function parse(url: string): URL {
  // It also mends what no client sends by accident, such as backslashes and line ends.
  if (/[\s\\]|\p{Cc}/u.test(url))
    throw new InvalidInput('Webhook URL has characters that a URL must not have');
  const scheme = /^([a-z][\w+.-]*):/i.exec(url)?.[1];
  if (scheme === undefined)
    throw new InvalidInput('Webhook must be an absolute URL, such as https://example.com/hook');
  if (!/^https?$/i.test(scheme))
    throw new InvalidInput(`Webhook scheme '${scheme.toLowerCase()}' not allowed`);
  if (!/^https?:\/\/[^/?#]/i.test(url)) throw new InvalidInput("Invalid webhook hostname ''");
  if (!URL.canParse(url)) throw new InvalidInput('Invalid webhook URL');
  const parsed = new URL(url);
  // `localhost.` is localhost.
  parsed.hostname = parsed.hostname.replace(/\.+$/, '');
  if (parsed.hostname === '' || parsed.hostname.endsWith('.'))
    throw new InvalidInput("Invalid webhook hostname ''");
  return parsed;
}

function checkTarget(
  { protocol, hostname, port }: URL,
  rules: WebhookRules,
  refusal: WebhookPolicy['refusal'],
  opens: (hostname: string) => boolean,
): void {
  const { https, allowed_domains, allowed_ports } = rules;
  const needsHttps = https === 'always' || (https === 'unless opened' && !opens(hostname));
  if (needsHttps && protocol !== 'https:') throw new InvalidInput('Webhook must use https');
  if (allowed_domains.length > 0 && !matches(hostname, allowed_domains)) {
    throw new InvalidInput(
      `Webhook domain '${hostname}' not allowed: it is none of webhooks.url.allowed_domains`,
    );
  }
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (allowed_ports.length > 0 && !allowed_ports.includes(number)) {
    throw new InvalidInput(`Webhook port ${number} not allowed: it is none of webhooks.url.allowed_ports`);
  }
  const address = bare(hostname);
  const reason = isIP(address) === 0 ? nameRefusal(hostname, opens) : refusal(hostname, address);
  if (reason) throw new InvalidInput(reason);
}

function nameRefusal(hostname: string, opens: (hostname: string) => boolean): string | undefined {
  if (NOWHERE.test(hostname)) return 'Webhook host blocked: DNS resolution failed';
  if (opens(hostname)) return undefined;
  if (MACHINE_ITSELF.test(hostname)) return `Webhook host blocked: localhost address. ${OPEN_LOOPBACK}`;
  return METADATA_NAMES.test(hostname)
    ? `Webhook host blocked: metadata address. ${OPEN_PRIVATE}`
    : undefined;
}

/** Enough of its addresses must be refused that none is left; a name service that is away is no reason. */
async function checkName(
  hostname: string,
  refusal: WebhookPolicy['refusal'],
  resolve: Resolve,
): Promise<void> {
  const addresses = await inTime(resolve(hostname)).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOTFOUND' || code === 'ENODATA') {
      throw new InvalidInput('Webhook host blocked: DNS resolution failed', { cause: error });
    }
    return undefined;
  });
  const refusals = addresses?.map((address) => refusal(hostname, address)) ?? [];
  const [first] = refusals;
  if (first && !refusals.includes(undefined)) throw new InvalidInput(first);
}

/** Undefined when it takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Names the host as it was given: what it resolves to is nothing for the client to know. */
function blocked(range: AddressRange, hostname: string, address: string): string {
  const words: Record<AddressRange, string> = {
    loopback: isIP(address) === 4 ? 'loopback IP range' : 'blocked IP range',
    private: 'private IP range',
    'link-local': 'blocked IP range',
    metadata: 'blocked IP range',
    reserved: 'blocked IP range',
  };
  const hint = range === 'loopback' && isIP(address) === 4 ? OPEN_LOOPBACK : OPEN_PRIVATE;
  return `Webhook host blocked: ${words[range]} (${hostname}). ${hint}`;
}

function matches(hostname: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase();
    return wanted.startsWith('*.') ? hostname.endsWith(wanted.slice(1)) : hostname === wanted;
  });
}

/** A literal IPv6 host without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
