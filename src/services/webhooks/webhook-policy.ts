import { isIPv4 } from 'node:net';
import { InvalidInput } from '../../core/errors.ts';
import { type IpRange, isInNetworks, parseNetwork, rangeOf } from '../../core/ip-ranges.ts';
import { hostnameKind, literalAddress, matchesHost, parseWebhookUrl } from './webhook-url.ts';

/** Which URLs the server may call for a client: `webhooks.url` (contract §6). */
export interface WebhookRules {
  /** `unless opened`: plain http only for allowlisted hosts, which seldom have certificates. */
  readonly https: 'always' | 'unless opened' | 'never';
  /** Exact, or `*.example.com` for subdomains; empty allows all. */
  readonly allowed_domains: readonly string[];
  /** Empty allows all. */
  readonly allowed_ports: readonly number[];
  readonly max_url_length: number;
  /** Rejects loopback addresses and the server's own routes. */
  readonly disable_loopback: boolean;
  /** Allowlist for non-public targets: networks, addresses, host names. */
  readonly allow_private: readonly string[];
  /** The server has custom routes, which a webhook may name by path. */
  readonly has_own_routes: boolean;
}

/** Resolves a host. Throws with the code of `dns.lookup`, or with `ETIMEOUT` after `wait_ms`. */
export type ResolveHost = (hostname: string, wait_ms: number) => Promise<readonly string[]>;

export interface WebhookPolicy {
  /** Throws `InvalidInput` that names the violated rule. Resolves the host, within a time limit. */
  check(url: string): Promise<void>;
  /** The same without DNS; the address is checked when it is called. */
  checkSyntax(url: string): void;
  /** Why a host must not be called at this resolved address; `undefined` if it may. */
  blockedReason(hostname: string, address: string): string | undefined;
}

/** Slow DNS must not delay the run; the address is checked again at delivery. */
const DNS_TIMEOUT_MS = 2000;

const DNS_FAILED = 'Webhook host blocked: DNS resolution failed';
const LOOPBACK_HINT = "The server's configuration can allow it: webhooks.url.disable_loopback: false.";
const PRIVATE_HINT = "The server's configuration can allow it: webhooks.url.allow_private.";

export function webhookPolicy(rules: WebhookRules, resolve: ResolveHost): WebhookPolicy {
  const { allow_private, disable_loopback } = rules;
  const networks = allow_private.map(parseNetwork).filter((network) => network !== undefined);
  const names = allow_private.filter((entry) => parseNetwork(entry) === undefined);

  /** Whether the configuration names this host. */
  function isAllowlisted(hostname: string): boolean {
    const address = literalAddress(hostname);
    const isLoopback = address
      ? isIPv4(address) && rangeOf(address) === 'loopback'
      : hostnameKind(hostname) === 'this machine';
    if (isLoopback && !disable_loopback) return true;
    return address ? isInNetworks(address, networks) : matchesHost(hostname, names);
  }

  function blockedReason(hostname: string, address: string): string | undefined {
    const range = rangeOf(address);
    if (range === undefined || isInNetworks(address, networks)) return undefined;
    if (range === 'loopback' && !disable_loopback) {
      // `localhost` may resolve to any loopback address; a literal must be 127.x (contract §6).
      if (isIPv4(address) || hostnameKind(hostname) === 'this machine') return undefined;
    }
    // An allowlisted name permits private ranges, never link-local ones (cloud metadata endpoints).
    if ((range === 'private' || range === 'loopback') && matchesHost(hostname, names)) return undefined;
    return blockedMessage(range, hostname, address);
  }

  function blockedHostReason(hostname: string): string | undefined {
    const address = literalAddress(hostname);
    if (address !== undefined) return blockedReason(hostname, address);
    const kind = hostnameKind(hostname);
    if (kind === 'nowhere') return DNS_FAILED;
    if (kind === undefined || isAllowlisted(hostname)) return undefined;
    return kind === 'metadata'
      ? `Webhook host blocked: metadata address. ${PRIVATE_HINT}`
      : `Webhook host blocked: localhost address. ${LOOPBACK_HINT}`;
  }

  function checkSyntax(text: string): URL | undefined {
    if (text.length > rules.max_url_length) {
      throw new InvalidInput(`Webhook URL is longer than ${rules.max_url_length} characters`);
    }
    if (/^\/(?![/\\])/.test(text)) return checkOwnRoute(rules);
    const url = parseWebhookUrl(text);
    const { https } = rules;
    const requiresHttps = https === 'always' || (https === 'unless opened' && !isAllowlisted(url.hostname));
    if (requiresHttps && url.protocol !== 'https:') throw new InvalidInput('Webhook must use https');
    checkLists(url, rules);
    const reason = blockedHostReason(url.hostname);
    if (reason) throw new InvalidInput(reason);
    return url;
  }

  return {
    async check(text) {
      const url = checkSyntax(text);
      if (!url || literalAddress(url.hostname)) return;
      const addresses = await resolveHost(url.hostname, resolve);
      const reasons = addresses?.map((address) => blockedReason(url.hostname, address)) ?? [];
      // One permitted address is enough: only that one is called.
      if (reasons[0] && !reasons.includes(undefined)) throw new InvalidInput(reasons[0]);
    },
    checkSyntax(text) {
      checkSyntax(text);
    },
    blockedReason,
  };
}

function checkOwnRoute({ disable_loopback, has_own_routes }: WebhookRules): undefined {
  if (disable_loopback) {
    const text = 'Loopback webhooks (relative URLs and localhost) are disabled by default.';
    throw new InvalidInput(`${text} ${LOOPBACK_HINT}`);
  }
  if (!has_own_routes) {
    throw new InvalidInput('Webhook is a path, but the server has no custom routes: http.app is not set');
  }
}

function checkLists(
  { hostname, port, protocol }: URL,
  { allowed_domains, allowed_ports }: WebhookRules,
): void {
  if (allowed_domains.length > 0 && !matchesHost(hostname, allowed_domains)) {
    throw new InvalidInput(
      `Webhook domain '${hostname}' not allowed: it is not in webhooks.url.allowed_domains`,
    );
  }
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (allowed_ports.length > 0 && !allowed_ports.includes(number)) {
    throw new InvalidInput(`Webhook port ${number} not allowed: it is not in webhooks.url.allowed_ports`);
  }
}

/** `undefined` if DNS is slow or unavailable: delivery resolves the host again. Throws for an unknown host. */
async function resolveHost(hostname: string, resolve: ResolveHost): Promise<readonly string[] | undefined> {
  try {
    return await resolve(hostname, DNS_TIMEOUT_MS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND' || code === 'ENODATA') throw new InvalidInput(DNS_FAILED, { cause: error });
    return undefined;
  }
}

/** Reports the host as given: the client must not learn what it resolves to. */
function blockedMessage(range: IpRange, hostname: string, address: string): string {
  if (range === 'loopback' && isIPv4(address)) {
    return `Webhook host blocked: loopback IP range (${hostname}). ${LOOPBACK_HINT}`;
  }
  const kind = range === 'private' ? 'private IP range' : 'blocked IP range';
  return `Webhook host blocked: ${kind} (${hostname}). ${PRIVATE_HINT}`;
}
