import { isIP } from 'node:net';
import { InvalidInput } from '../../core/errors.ts';
import { trimEnd } from '../../core/text.ts';

/**
 * Parses with the parser that the request uses, so that the host that is checked is the host that is called. Throws
 * `InvalidInput` with the messages of contract §6.
 */
export function parseWebhookUrl(text: string): URL {
  // Reject what the parser would silently normalize, such as backslashes and line breaks.
  if (/[\s\\]|\p{Cc}/u.test(text)) {
    throw new InvalidInput('Webhook URL contains white space, backslashes or control characters');
  }
  const scheme = /^([a-z][\w+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    throw new InvalidInput('Webhook must be an absolute URL, such as https://example.com/hook');
  }
  if (!/^https?$/.test(scheme)) throw new InvalidInput(`Webhook scheme '${scheme}' not allowed`);
  if (!/^\w+:\/\/[^/?#]/.test(text)) throw new InvalidInput("Invalid webhook hostname ''");
  if (!URL.canParse(text)) throw new InvalidInput('Invalid webhook URL');
  const url = new URL(text);
  // `localhost.` equals `localhost`.
  url.hostname = trimEnd(url.hostname, '.');
  if (url.hostname === '' || url.hostname.endsWith('.'))
    throw new InvalidInput("Invalid webhook hostname ''");
  return url;
}

/** The IP address if the host is a literal; `undefined` for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * The last two labels of a host name, which group most names of one owner; an IP address is returned as it is.
 */
export function domainOf(host: string): string {
  const hostname = host.replace(/:\d+$/, '');
  return literalAddress(hostname) ?? hostname.split('.').slice(-2).join('.');
}

/** `example.com`, or `*.example.com` for every subdomain. */
export function matchesHost(hostname: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase();
    return wanted.startsWith('*.') ? hostname.endsWith(wanted.slice(1)) : hostname === wanted;
  });
}

const LOCALHOST_NAMES =
  /^(localhost(\.localdomain)?|ip6-(localhost|loopback)|(host|gateway)\.docker\.internal)$/;
const METADATA_NAMES =
  /^(metadata|metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/;
/** Reserved TLD that never resolves (RFC 6761). */
const INVALID_TLD = /(^|\.)invalid$/;

/** Classifies a host by name alone, before DNS. */
export function hostnameKind(hostname: string): 'this machine' | 'metadata' | 'nowhere' | undefined {
  if (LOCALHOST_NAMES.test(hostname) || hostname.endsWith('.localhost')) return 'this machine';
  if (METADATA_NAMES.test(hostname)) return 'metadata';
  return INVALID_TLD.test(hostname) ? 'nowhere' : undefined;
}
