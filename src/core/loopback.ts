import { isIP } from 'node:net';

/** Names that resolve to this machine everywhere: loopback addresses, `localhost` and its subdomains. */
export function isLocalName(name: string): boolean {
  return isLoopback(name) || name.toLowerCase().endsWith('.localhost');
}

/** A socket of both families names an IPv4 address in this way. */
const MAPPED = /^::ffff:(?=[\d.]+$)/;

/** True for loopback addresses and `localhost`. */
export function isLoopback(host: string): boolean {
  const address = host
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
    .replace(MAPPED, '');
  if (address === 'localhost' || address === '::1') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}
