import { isIP } from 'node:net';

/** Names that lead to this machine wherever they are looked up: its addresses, `localhost`, and what is below that. */
export function isLocalName(name: string): boolean {
  return isLoopback(name) || name.toLowerCase().endsWith('.localhost');
}

/** Addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (address === 'localhost' || address === '::1') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}
