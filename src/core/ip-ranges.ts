import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** Why an address is not public. */
export type IpRange = 'loopback' | 'private' | 'link-local' | 'metadata' | 'reserved';

const RANGES: Readonly<Record<string, IpRange>> = {
  loopback: 'loopback',
  private: 'private',
  carrierGradeNat: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
};

/** Cloud metadata endpoints: they serve a machine's secrets, and some of their addresses look public. */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', '169.254.169.254', 'fd00:ec2::254']);
/** The public range of IPv6; outside of it are several forms of embedded IPv4. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Returns `undefined` for a public address. IPv4-mapped IPv6 counts as its IPv4 address; other embedded IPv4 (NAT64,
 * 6to4, Teredo) is `reserved`. Invalid text is `reserved` too.
 */
export function rangeOf(text: string): IpRange | undefined {
  const address = parse(text);
  if (!address) return 'reserved';
  if (METADATA.has(address.toString())) return 'metadata';
  const range = address.range();
  if (range !== 'unicast') return RANGES[range] ?? 'reserved';
  const isPublic = address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
  return isPublic ? undefined : 'reserved';
}

/** Parses a network such as `10.0.0.0/8`, or a single address; `undefined` if invalid. */
export function parseNetwork(text: string): Network | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parse(text);
  return address && [address, address.kind() === 'ipv4' ? 32 : 128];
}

export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  const address = parse(text);
  if (!address) return false;
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * Rate-limit key of a client: an IPv4 address, or the /64 network of an IPv6 address, within which a subscriber has any
 * number of addresses. Invalid text is returned unchanged.
 */
export function clientNetwork(text: string): string {
  const address = parse(text);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
}

function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}
