import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** Why an address is not one of the public internet. */
export type IpRange = 'loopback' | 'private' | 'link-local' | 'metadata' | 'reserved';

const RANGES: Readonly<Record<string, IpRange>> = {
  loopback: 'loopback',
  private: 'private',
  carrierGradeNat: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
};

/** Serve a machine's secrets in some clouds, although their addresses look like any other. */
const METADATA = new Set(['168.63.129.16', '100.100.100.200', '169.254.169.254', 'fd00:ec2::254']);
/** What is public in IPv6; outside of it, IPv4 hides in several ways. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Undefined for a public address. IPv4 inside of IPv6 counts as what it leads to (mapped) or is `reserved` (NAT64,
 * 6to4, Teredo). Text that is no address is `reserved` too.
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

/** A network such as `10.0.0.0/8`, or one address; undefined for another text. */
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
 * What tells one subscriber from another: an address of IPv4, and of IPv6 the network of 64 bits, in which everybody
 * has as many addresses as they like. Text that is no address stays as it is.
 */
export function clientNetwork(text: string): string {
  const address = parse(text);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
}

function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}
