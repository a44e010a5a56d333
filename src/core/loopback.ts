import { isIP } from 'node:net';

/** Names that resolve to this machine everywhere: loopback addresses, `localhost` and its subdomains. */
export function isLocalName(name: string): boolean {
  return isLoopback(name) || name.toLowerCase().endsWith('.localhost');
}

/** True for loopback addresses and `localhost`. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (address === 'localhost' || address === '::1') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}
